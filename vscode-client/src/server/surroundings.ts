// The environment variables of the programs we start: what the editor has, without what would lead a Python
// astray, and with the editor's own proxy settings, which Python's tools cannot know otherwise.

export interface ProxySettings {
  proxy: string;
  noProxy: readonly string[];
}

/** Would make Python or pip look for, or put, packages elsewhere. */
const ASTRAY = ["PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_VIRTUALENV"];

export function forPython(environment: NodeJS.ProcessEnv, settings: ProxySettings): NodeJS.ProcessEnv {
  const own: NodeJS.ProcessEnv = { ...environment };
  for (const name of ASTRAY) delete own[name];
  if (settings.proxy) {
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]) own[name] = settings.proxy;
  }
  if (settings.noProxy.length) own.NO_PROXY = own.no_proxy = settings.noProxy.join(",");
  return own;
}

/** Without what stands between `://` and `@`: an address may hold a password. */
export function withoutSecrets(text: string): string {
  return text.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, "$1****@");
}
