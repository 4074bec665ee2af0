// Where somebody is: the fragment of the address, which reaches no server, is the only state that outlives a reload, so
// that Back works and a link leads to the same place.

export interface Route {
  path: string[];
  query: URLSearchParams;
}

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function addressTo(path: readonly string[], query: Record<string, string | undefined> = {}): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) asked.set(name, value);
  return `#/${path.map(encodeURIComponent).join("/")}${asked.size ? `?${asked}` : ""}`;
}

export const go = (path: readonly string[], query: Record<string, string | undefined> = {}): void => {
  location.hash = addressTo(path, query);
};

/** Another filter of the same place: Back leads to the place before it. */
export const refine = (path: readonly string[], query: Record<string, string | undefined>): void => {
  history.replaceState(null, "", addressTo(path, query));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
};
