// Places of a run (`develop/3/write`, written by the engine) read apart. Names in them are quoted.

/** What lies around a place, without the parts that the engine itself adds (`develop/3:judge`). */
export function parentOf(place: string): string {
  const cut = place.lastIndexOf("/");
  return cut < 0 ? "" : place.slice(0, cut);
}

export function withoutPart(place: string): string {
  const end = place.lastIndexOf("/");
  const part = place.indexOf(":", end + 1);
  return part < 0 ? place : place.slice(0, part);
}

export function nameOf(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The nearest place around this one (itself included) that `known` has. */
export function around(place: string, known: (place: string) => boolean): string | undefined {
  for (let at = withoutPart(place); at; at = parentOf(withoutPart(at))) {
    if (known(at)) return at;
    const bare = withoutPart(at);
    if (bare !== at && known(bare)) return bare;
  }
  return undefined;
}
