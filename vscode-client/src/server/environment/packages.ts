// Why pip could not install: told from what it said. Decides nothing; a sentence is made of it elsewhere.
import type { Outcome } from "../child";
import { withoutSecrets } from "../surroundings";
import type { PackagesBecause, Trouble } from "../trouble";

/** The first that fits; certificates and proxies before the network, since pip tells of all three at once. */
const SIGNS: readonly [PackagesBecause, RegExp][] = [
  ["disk_full", /No space left on device|ENOSPC|Errno 28/i],
  ["certificate", /CERTIFICATE_VERIFY_FAILED|SSLError|certificate verify failed/i],
  ["proxy", /ProxyError|Cannot connect to proxy|407 Proxy Authentication|Tunnel connection failed/i],
  [
    "unreachable",
    /NewConnectionError|Failed to establish a new connection|Name or service not known|Temporary failure in name resolution|getaddrinfo failed|Connection refused|Network is unreachable|ConnectTimeout|Read timed out|Connection (?:aborted|broken|reset)|Max retries exceeded/i,
  ],
  ["not_found", /No matching distribution found|Could not find a version that satisfies/i],
];

export function whyPackagesFailed(outcome: Outcome): Trouble {
  if (outcome.ending === "cancelled") return { kind: "cancelled" };
  const said = withoutSecrets(`${outcome.stdout}\n${outcome.stderr}`.trim());
  if (outcome.ending === "limit") return { kind: "packages", because: "limit", said: lastLines(said) };
  const because = SIGNS.find(([, sign]) => sign.test(said))?.[0] ?? "unknown";
  return { kind: "packages", because, host: hostIn(said), said: lastLines(said) };
}

export function lastLines(text: string, count = 15): string {
  return text.trim().split(/\r?\n/).slice(-count).join("\n");
}

/** The index that pip asked: of the address in its complaint, the host and nothing else. */
function hostIn(text: string): string | undefined {
  return (/host='([^']+)'/.exec(text) ?? /Looking in indexes: \w+:\/\/(?:[^@/\s]*@)?([^/:\s,]+)/.exec(text))?.[1];
}
