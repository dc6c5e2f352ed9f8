// Loaded into a service by `NODE_OPTIONS=--import=...`: every request with the header X-Slow blocks the event loop for 0.4 s.
import { subscribe } from 'node:diagnostics_channel';

const BLOCKED_MS = 400;

subscribe('http.server.request.start', ({ request }) => {
  if (request.headers['x-slow'] === undefined) return;
  for (const end = performance.now() + BLOCKED_MS; performance.now() < end; );
});
