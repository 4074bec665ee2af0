// What can keep the server from running, as data: found in many places, told in one (`sentences.ts`).
import type { Tried } from "./environment/python";

export type PackagesBecause = "unreachable" | "proxy" | "certificate" | "not_found" | "disk_full" | "limit" | "unknown";

export type Trouble =
  | { kind: "no_python"; tried: readonly Tried[] }
  | { kind: "not_writable"; folder: string; because: string }
  | { kind: "no_environment"; python: string; said: string }
  | { kind: "packages"; because: PackagesBecause; host?: string; said: string }
  | { kind: "no_wheel" }
  | { kind: "cancelled" }
  | { kind: "wrong_command"; command: string; because: "missing" | "not_a_program" }
  | { kind: "not_started"; command: string; because: string }
  | { kind: "silent"; command: string; seconds: number }
  | { kind: "ended_at_once"; command: string; said: string }
  | { kind: "keeps_ending"; times: number };

export class TroubleError extends Error {
  constructor(readonly trouble: Trouble) {
    super(trouble.kind);
  }
}
