/** As a browser: more of them are a circle. */
const most = 20;

/**
 * A fetch that follows redirects only as long as they stay with the same server: fetch itself would hand keys and
 * the whole conversation on to whomever it names. `refused` makes the error of any other.
 */
export function withinOrigin(fetched: typeof fetch, refused: (to: string) => Error): typeof fetch {
  return async (input, init) => {
    let response = await fetched(input, { ...init, redirect: 'manual' });
    let url = new URL(input instanceof Request ? input.url : input);
    for (let hops = 1; ; hops++) {
      const location = /^30[12378]$/.test(String(response.status)) ? response.headers.get('location') : null;
      if (location === null) return response;
      await response.body?.cancel();
      const to = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
      if (to?.origin !== url.origin || hops > most) throw refused(to?.origin ?? 'nowhere');
      url = to;
      response = await fetched(url, { ...init, redirect: 'manual' });
    }
  };
}
