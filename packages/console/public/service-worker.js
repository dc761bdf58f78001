/*
 * Shows the messages that the hub pushes, and a page while the hub is out of reach. It keeps no
 * data and answers no question: each message leads to a page, whose session answers.
 */

self.addEventListener('install', () => self.skipWaiting());

self.addEventListener('push', (event) => {
  const { notification, app_badge: count } = event.data.json();
  const { title, navigate, actions = [], ...options } = notification;
  const shown = self.registration.showNotification(title, {
    ...options,
    icon: '/icon-192.png',
    actions: actions.map(({ action, title: word }) => ({ action, title: word })),
    data: { '': navigate, ...Object.fromEntries(actions.map((one) => [one.action, one.navigate])) },
  });
  event.waitUntil(Promise.all([shown, self.navigator.setAppBadge?.(count)]));
});

self.addEventListener('notificationclick', (event) => {
  const { notification, action } = event;
  notification.close();
  event.waitUntil(openPage(new URL(notification.data[action] ?? notification.data[''])));
});

/** Shows the window that has the page already, or opens one. */
async function openPage(url) {
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const own = windows.find((one) => new URL(one.url).pathname === url.pathname);
  return own ? own.focus() : self.clients.openWindow(url.href);
}

self.addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate') return;
  event.respondWith(
    fetch(event.request).catch(
      () =>
        new Response(OFFLINE_PAGE, {
          headers: {
            'content-type': 'text/html; charset=utf-8',
            'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
          },
        }),
    ),
  );
});

const OFFLINE_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Signalbox: the hub is out of reach</title>
    <style>
      body { font: 1rem/1.5 system-ui, sans-serif; margin: 20vh 1.5rem; background: light-dark(#fff, #16181d); color: light-dark(#1c1f26, #e8eaf0) }
      main { max-width: 32rem; margin: auto }
      h1 { font-size: 1.25rem }
      a { display: inline-block; padding: 0.65rem 0; color: light-dark(#3b5bdb, #9db2ff) }
    </style>
  </head>
  <body>
    <main>
      <h1>The hub is out of reach</h1>
      <p>This device is offline, or the hub does not run. Nothing is lost: questions wait at the hub.</p>
      <a href="">Try again</a>
    </main>
  </body>
</html>
`;
