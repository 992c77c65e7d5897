/** The Cache API is the only storage of texts that pages and service workers share. */
const CACHE = 'gatehouse.device';
const IS_OFF = 'request-previews-off';

/** Returns the switch of this browser for the text of requests: on, unless the person turned it off. */
export async function showsPreviewsHere(): Promise<boolean> {
  return (await caches.match(IS_OFF, { cacheName: CACHE })) === undefined;
}

export async function setPreviewsHere(isOn: boolean): Promise<void> {
  const cache = await caches.open(CACHE);
  await (isOn ? cache.delete(IS_OFF) : cache.put(IS_OFF, new Response()));
}
