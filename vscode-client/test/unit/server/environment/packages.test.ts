import { expect, test } from "vitest";
import type { Outcome } from "../../../../src/server/child";
import { whyPackagesFailed } from "../../../../src/server/environment/packages";
import { tell } from "../../../../src/server/sentences";
import { forPython, withoutSecrets } from "../../../../src/server/surroundings";

const pip = (stderr: string, ending: Outcome["ending"] = "exited"): Outcome => ({ ending, code: 1, stdout: "", stderr });

const DEAD = `WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError("HTTPConnection(host='127.0.0.1', port=9): Failed to establish a new connection: [Errno 111] Connection refused")': /simple/dbos/
ERROR: Could not find a version that satisfies the requirement dbos<4,>=3.4 (from versions: none)
ERROR: No matching distribution found for dbos<4,>=3.4`;

test.each([
  [DEAD, "unreachable"],
  ["ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 407')) NewConnectionError", "proxy"],
  ["SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed')) Max retries exceeded", "certificate"],
  ["ERROR: No matching distribution found for regex>=2025.7", "not_found"],
  ["OSError: [Errno 28] No space left on device", "disk_full"],
  ["ERROR: Failed building wheel for regex", "unknown"],
])("%#: pip's words are told as %s", (_said, because) => {
  expect(whyPackagesFailed(pip(_said))).toMatchObject({ kind: "packages", because });
});

test("the sentence names who could not be reached, and the ways out", () => {
  const told = tell(whyPackagesFailed(pip(DEAD)));
  expect(told.sentence).toBe("127.0.0.1 cannot be reached, so Loop's server could not be set up: check the network or the proxy.");
  expect(told.ways).toEqual(["retry", "proxySetting", "log"]);
  expect(told.said).toContain("Connection refused");
});

test("a password in an address is nowhere", () => {
  const trouble = whyPackagesFailed(pip("Looking in indexes: https://me:s3cret@pypi.example/simple\nConnection refused"));
  expect(JSON.stringify(trouble)).not.toContain("s3cret");
  expect(trouble).toMatchObject({ host: "pypi.example" });
  expect(withoutSecrets("http://user:pass@proxy:3128 and a@b")).toBe("http://****@proxy:3128 and a@b");
});

test("the editor's proxy reaches pip, and what would lead Python astray does not", () => {
  const own = forPython({ PYTHONPATH: "/evil", PIP_TARGET: "/x", PIP_INDEX_URL: "https://own", PATH: "/bin" }, { proxy: "http://proxy:3128", noProxy: ["a", "b"] });
  expect(own).toMatchObject({ HTTPS_PROXY: "http://proxy:3128", https_proxy: "http://proxy:3128", NO_PROXY: "a,b", PIP_INDEX_URL: "https://own", PATH: "/bin" });
  expect(own).not.toHaveProperty("PYTHONPATH");
  expect(own).not.toHaveProperty("PIP_TARGET");
});

test("no setting leaves the proxy of the environment alone", () => {
  expect(forPython({ HTTPS_PROXY: "http://p" }, { proxy: "", noProxy: [] })).toEqual({ HTTPS_PROXY: "http://p" });
});
