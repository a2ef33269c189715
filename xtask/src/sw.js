// What is named by its content is taken from the cache, everything else from the network while there is one. A new
// version waits until no page of the old one is open, so a running simulation keeps the files it began with.
const CACHE = 'loopscope-VERSION';
const FILES = [
  /* FILES */
];
addEventListener('install', (event) => {
  const fresh = FILES.map((file) => new Request(file, { cache: 'no-cache' }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(fresh)));
});
addEventListener('activate', (event) => {
  const isOld = (name) => name.startsWith('loopscope-') && name !== CACHE;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name)))));
});
addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || !request.url.startsWith(registration.scope)) return;
  const kept = async () => (await caches.open(CACHE)).match(request, { ignoreSearch: true });
  const isHashed = /-[0-9a-f]{12,}(_bg)?\.\w+$/.test(request.url);
  const answer = async () => {
    if (isHashed) return (await kept()) ?? fetch(request);
    return fetch(request).catch(async (error) => {
      const file = await kept();
      if (file) return file;
      throw error;
    });
  };
  event.respondWith(answer());
});
