import { ALERT_BEFORE } from '../../../src/features/notifications/alerts/alert.rules.js';

test.each(['1d', '9999y', '30d', '12m', '2w'])('%s is a period', (text) => expect(text).toMatch(ALERT_BEFORE));
test.each(['', '0d', '01d', '10000d', '1x', ' 1d', '1d ', '1', 'd', '1.5d', '-1d', '1D', '1dd', '١d', '1d\n'])(
  '%j is none',
  (text) => expect(text).not.toMatch(ALERT_BEFORE),
);
