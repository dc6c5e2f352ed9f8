import { DisabledKeys } from '../../../src/kernel/crypto/disabled-keys.js';
import { isInBackground } from '../../../src/kernel/database/background.js';
import type { Query } from '../../../src/kernel/database/database.js';

test('a question that a request lends its connection to, because no other is to be had, is none of the request', async () => {
  const disabled = new DisabledKeys(() => new Promise(() => undefined));
  const asked: boolean[] = [];
  const query: Query = async () => {
    asked.push(isInBackground());
    return [];
  };

  expect(await disabled.has(query, 'b0c4f1de-8f0f-4c53-9d8e-5d1c4f7f6a10')).toBe(false);

  expect(asked).toEqual([true]);
  expect(isInBackground()).toBe(false);
});
