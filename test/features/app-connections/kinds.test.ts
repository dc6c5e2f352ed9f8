import {
  isRefusal,
  refusalOf,
  TargetFailure,
} from '../../../src/features/rotations/app-connections/kind/target-failure.js';
import { KINDS } from '../../../src/features/rotations/app-connections/kinds.js';
import { violationsOf } from '../../../src/kernel/validation.js';

const [datatool] = KINDS;
if (datatool === undefined) throw new Error('there is no kind');

const ACCOUNT = { instanceUrl: 'https://ab123.us1.example.com', accountId: '70403' };
const violationsIn = (given: object) => {
  const { error } = datatool.publicRules.safeParse(given);
  return error === undefined ? [] : violationsOf(error).map(({ path }) => path);
};

describe('credentials of the analytics tool', () => {
  test.each([
    'https://ab123.us1.example.com',
    'https://ab123.us1.example.com:8443/',
    ' https://cloud.example.com/deploy/1?x=1 ',
    'HTTPS://CLOUD.example.com',
    'https://[2606:4700::1]:8443',
  ])('take the address %s', (instanceUrl) => {
    expect(violationsIn({ ...ACCOUNT, instanceUrl })).toEqual([]);
    expect(
      datatool.targetViolation({ ...ACCOUNT, instanceUrl: instanceUrl.trim() }, { allowPrivateTargets: false }),
    ).toBeNull();
  });

  test.each([
    '',
    'cloud.example.com',
    'ftp://cloud.example.com',
    'https://',
    'https://user@cloud.example.com',
    'https://user:password@cloud.example.com',
    'https://cloud example.com',
    'https://cloud.example.com\u0000',
    'javascript:alert(1)',
    `https://cloud.example.com/${'x'.repeat(2_048)}`,
  ])('do not take the address %j', (instanceUrl) => {
    expect(violationsIn({ ...ACCOUNT, instanceUrl })).toEqual(['instanceUrl']);
  });

  test.each([
    ['http://cloud.example.com', 'INVALID_FORMAT'],
    ['https://127.0.0.1', 'PRIVATE_TARGET'],
    ['https://2130706433', 'PRIVATE_TARGET'],
    ['https://0x7f.1', 'PRIVATE_TARGET'],
    ['https://[::1]', 'PRIVATE_TARGET'],
    ['https://[::ffff:10.0.0.1]', 'PRIVATE_TARGET'],
    ['https://[64:ff9b::a00:1]', 'PRIVATE_TARGET'],
    ['https://169.254.169.254', 'PRIVATE_TARGET'],
    ['https://localhost', 'PRIVATE_TARGET'],
    ['https://LOCALHOST.:8443', 'PRIVATE_TARGET'],
  ])('call %s only where the operator allows it', (instanceUrl, code) => {
    const account = { ...ACCOUNT, instanceUrl };
    expect(datatool.targetViolation(account, { allowPrivateTargets: false })?.code).toBe(code);
    expect(datatool.targetViolation(account, { allowPrivateTargets: true })).toBeNull();
  });

  test('go to a place that is scheme, host and port', () => {
    const placeOf = (instanceUrl: string) => datatool.targetOf({ ...ACCOUNT, instanceUrl });
    expect(placeOf('https://a.example.com/x')).toBe(placeOf('https://A.example.com:443'));
    for (const other of ['http://a.example.com', 'https://a.example.com:444', 'https://b.example.com'])
      expect(placeOf(other)).not.toBe(placeOf('https://a.example.com'));
  });

  test('make credentials in a system and an account of it, however they are written', () => {
    const systemOf = (changes: object) => datatool.systemOf({ ...ACCOUNT, ...changes });
    const one = systemOf({ instanceUrl: 'https://a.example.com/x', accountId: '70403' });
    expect(one).toBe('https://a.example.com, account 70403');
    expect(systemOf({ instanceUrl: 'https://A.example.com.:443', accountId: '0070403' })).toBe(one);
    for (const other of [{ accountId: '70404' }, { instanceUrl: 'https://b.example.com' }])
      expect(systemOf({ instanceUrl: 'https://a.example.com', accountId: '70403', ...other })).not.toBe(one);
  });

  test.each(['', '70403x', '-1', '1/../2', '1'.repeat(21)])('do not take the account %j', (accountId) => {
    expect(violationsIn({ ...ACCOUNT, accountId })).toEqual(['accountId']);
  });

  test.each(['', 'two words', 'line\nbreak', 'ü', 'x'.repeat(256)])('do not take the token %j', (apiToken) => {
    expect(datatool.secretRules.safeParse({ apiToken }).success).toBe(false);
  });
});

describe('a failure of an external system', () => {
  test('is a refusal only where it would be the same again', () => {
    expect(isRefusal(new TargetFailure('CREDENTIALS_REJECTED', 'unchanged'))).toBe(true);
    expect(isRefusal(new TargetFailure('TARGET_REJECTED', 'unchanged', 'Busy.', 7, true))).toBe(false);
    expect(isRefusal(new TargetFailure('TARGET_UNREACHABLE', 'unknown', 'Gone.', null, true))).toBe(false);
    expect(isRefusal(new TargetFailure('TOOL_MISSING', 'unchanged'))).toBe(false);
  });

  test('is 502 with its code in a request, and 422 where the target may not be called', () => {
    const shown = (failure: TargetFailure) => {
      const { code, status, details } = refusalOf(failure, 'input.host');
      return { code, status, detail: details?.[0] };
    };
    expect(shown(new TargetFailure('CREDENTIALS_REJECTED', 'unchanged', 'No.'))).toEqual({
      code: 'UPSTREAM_REJECTED',
      status: 502,
      detail: { path: 'input.host', code: 'CREDENTIALS_REJECTED', message: 'No.' },
    });
    expect(shown(new TargetFailure('TARGET_TIMED_OUT', 'unknown'))).toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      status: 502,
    });
    expect(shown(new TargetFailure('TARGET_REFUSED', 'unchanged'))).toMatchObject({
      code: 'VALIDATION_FAILED',
      status: 422,
      detail: { path: 'input.host', code: 'PRIVATE_TARGET' },
    });
  });

  test('has a message of at most 200 characters', () => {
    expect(new TargetFailure('TARGET_REJECTED', 'unknown', 'x'.repeat(300)).message).toHaveLength(200);
  });
});
