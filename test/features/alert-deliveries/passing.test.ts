import { matchingCertificates } from '../../../src/features/notifications/alert-deliveries/matching.js';
import type { AlertFilter } from '../../../src/features/notifications/alerts/public.js';

test('filters that take long let other work run between two certificates', async () => {
  const sans = Array.from({ length: 3_000 }, (_, at) => `a${at}.example.com`);
  const certificates = Array.from({ length: 5 }, () => ({ profileName: null, commonName: 'x', sans, isCa: false }));
  const filters = Array.from(
    { length: 5 },
    (): AlertFilter => ({ field: 'san', operator: 'matches', value: '*a2999*' }),
  );
  const passed = matchingCertificates(filters, certificates);
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  expect((await passed).length).toBe(5);
  isDone = true;
  expect(turns).toBeGreaterThanOrEqual(certificates.length - 1);
});
