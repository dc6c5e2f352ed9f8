/**
 * The job that sends what waits at one channel, a standing one for each: a target that hangs holds up no other, and one that fails
 * has a pause of its own.
 */
export const SEND = {
  name: 'certificate-alerts:send',
  description: 'Sends the notifications that wait at one channel of a certificate alert.',
  concurrency: 8,
  leaseSeconds: 30,
  limitSeconds: 600,
  // What fails here is the service itself; a target that fails has its pauses in its messages.
  retry: { firstSeconds: 30, longestSeconds: 600, attempts: 1_000_000 },
} as const;
