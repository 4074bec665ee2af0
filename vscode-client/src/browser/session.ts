// Who is signed in here. The token is this page's own and stays in its tab: memory and `sessionStorage`, no cookie, which
// every port of this machine would get. The code of the address is taken out of it before anything else happens.
import type { PageSignedIn } from "../contract/answers";
import { OPERATIONS } from "../contract/operations";

export type Session = Pick<PageSignedIn, "token" | "user" | "role" | "expiresAt">;

const KEY = "loop-ls.session";
const CODE = /^#code=([\w-]{8,64})$/;

let current: Session | undefined;

/** The code behind the `#`, which from now on is in no history entry. */
export function takenCode(): string | undefined {
  const code = CODE.exec(location.hash)?.[1];
  if (code) history.replaceState(null, "", location.pathname);
  return code;
}

export function session(): Session | undefined {
  current ??= stored();
  return current && current.expiresAt * 1000 > Date.now() ? current : undefined;
}

function stored(): Session | undefined {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Session | null;
    return typeof found?.token === "string" ? found : undefined;
  } catch {
    return undefined;
  }
}

export function forget(): void {
  current = undefined;
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}

/** A sentence where the code lets nobody in. */
export async function signIn(code: string): Promise<string | undefined> {
  const { method, path } = OPERATIONS.page_sign_in;
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(path, { method, headers, body: JSON.stringify({ code }), credentials: "omit" }).catch(() => undefined);
  const said = (await answer?.json().catch(() => undefined)) as (Session & { error?: string; hint?: string }) | undefined;
  if (!answer || !said) return "The engine is not responding.";
  if (!answer.ok) return [said.error, said.hint].filter(Boolean).join(" ");
  const { token, user, role, expiresAt } = said;
  current = { token, user, role, expiresAt };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Then it is signed in until it is reloaded.
  }
  return undefined;
}
