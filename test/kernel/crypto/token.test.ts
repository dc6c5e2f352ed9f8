import { createHash, randomBytes } from 'node:crypto';
import { hashToken, hasValidChecksum, mintClientSecret, mintToken } from '../../../src/kernel/crypto/token.js';
import fc from '../../kit/properties.js';

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('a token', () => {
  test('is srt_, 43 characters, and the first 6 of the base64url SHA-256 of these', () => {
    const token = mintToken(Buffer.alloc(32));
    const text = `srt_${'A'.repeat(43)}`;
    expect(token).toBe(text + createHash('sha256').update(text).digest('base64url').slice(0, 6));
    expect(token).toMatch(/^srt_[A-Za-z0-9_-]{49}$/);
  });

  test('has a valid checksum, whatever its bytes', () => {
    fc.assert(fc.property(bytes32, (bytes) => expect(hasValidChecksum(mintToken(bytes))).toBe(true)));
  });

  test('is another one each time', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => mintToken())).size).toBe(1_000);
  });

  test('is not made of fewer than 32 bytes', () => {
    expect(() => mintToken(randomBytes(31))).toThrow('32 bytes');
  });

  test('made up without its checksum is never accepted, of 100,000', () => {
    let accepted = 0;
    for (let count = 0; count < 100_000; count += 1) {
      const invented = `srt_${randomBytes(37).toString('base64url').slice(0, 49)}`;
      if (hasValidChecksum(invented)) accepted += 1;
    }
    expect(accepted).toBe(0);
  });

  test('is not accepted with one character changed, added, dropped or spaced', () => {
    fc.assert(
      fc.property(bytes32, fc.nat(52), fc.constantFrom(...LETTERS), (bytes, at, letter) => {
        const token = mintToken(bytes);
        fc.pre(token[at] !== letter);
        expect(hasValidChecksum(token.slice(0, at) + letter + token.slice(at + 1))).toBe(false);
        expect(hasValidChecksum(token.slice(0, at) + letter + token.slice(at))).toBe(false);
        expect(hasValidChecksum(token.slice(0, at) + token.slice(at + 1))).toBe(false);
        expect([`${token}\n`, ` ${token}`, token.toUpperCase()].some(hasValidChecksum)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test('of any other form is refused without an error', () => {
    fc.assert(fc.property(fc.string(), (any) => expect(hasValidChecksum(any)).toBe(false)));
  });

  test('is not the same as a client secret, which is made in the same way and marked srs_', () => {
    const text = `srs_${'A'.repeat(43)}`;
    const secret = mintClientSecret(Buffer.alloc(32));
    expect(secret).toBe(text + createHash('sha256').update(text).digest('base64url').slice(0, 6));
    expect(hasValidChecksum(secret)).toBe(false);
    expect(() => mintClientSecret(randomBytes(33))).toThrow('32 bytes');
  });

  test('is stored as its SHA-256', () => {
    const token = mintToken();
    expect(hashToken(token)).toEqual(createHash('sha256').update(token).digest());
  });
});
