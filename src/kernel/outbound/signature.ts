import { createHmac } from 'node:crypto';

/** Header of the signature of a webhook. */
export const SIGNATURE_HEADER = 'X-Strongroom-Signature';

/** Signs the time together with the body, so that a recorded request cannot be replayed later. */
export function signatureOf(secret: string, body: string): string {
  const time = Date.now();
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}
