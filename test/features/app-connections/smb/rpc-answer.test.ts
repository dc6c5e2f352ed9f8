import { outcomeOf } from '../../../../src/features/rotations/app-connections/smb/rpc-tool.js';
import fc from '../../../kit/properties.ts';

const MARKER = 'Account Name: backup, Authority Name: LABHOST\n\n';
const GUEST = 'Account Name: nobody, Authority Name: LABHOST\n\n';
const result = (status: string): string => `result was NT_STATUS_${status}\n`;
const notConnected = (status: string): string => `Cannot connect to server.  Error was NT_STATUS_${status}\n`;
const notAsked = (pipe: string): string => `do_cmd: Could not initialise ${pipe}. Error was NT_STATUS_IO_TIMEOUT\n`;

/** What came of a run, as `code certainty`; `done` where nothing failed. */
function analysed(stdout: string, { stderr = '', isCut = false, isChange = true } = {}): string {
  const { failure } = outcomeOf({ stdout, stderr, isCut }, { username: 'Backup', isChange });
  return failure === null ? 'done' : `${failure.code} ${failure.certainty}`;
}

describe('what came of a change', () => {
  test.each([
    ['done: the account is named, and no status', MARKER, {}, 'done'],
    ['not known, when nothing is said', '', {}, 'TARGET_RESPONSE_INVALID unknown'],
    ['not known, when the tool was ended', '', { isCut: true }, 'TARGET_TIMED_OUT unknown'],
    [
      'not known, when the tool was ended although the account is named',
      MARKER,
      { isCut: true },
      'TARGET_TIMED_OUT unknown',
    ],
    ['nothing, when the login failed', '', { stderr: notConnected('LOGON_FAILURE') }, 'CREDENTIALS_REJECTED unchanged'],
    [
      'nothing, when no server was there',
      '',
      { stderr: notConnected('CONNECTION_REFUSED') },
      'TARGET_UNREACHABLE unchanged',
    ],
    ['nothing, when it was refused', result('WRONG_PASSWORD') + MARKER, {}, 'CREDENTIALS_REJECTED unchanged'],
    ['nothing, when both commands were refused', result('ACCESS_DENIED').repeat(2), {}, 'PERMISSION_MISSING unchanged'],
    // The refusal may be that of the second command, after a change that was done in silence.
    ['not known, when one of two commands was refused', result('ACCESS_DENIED'), {}, 'PERMISSION_MISSING unknown'],
    [
      'not known, when the connection broke',
      result('CONNECTION_DISCONNECTED') + MARKER,
      {},
      'TARGET_UNREACHABLE unknown',
    ],
    [
      'not known by a status of which we know nothing',
      result('FS_DRIVER_REQUIRED') + MARKER,
      {},
      'TARGET_REJECTED unknown',
    ],
    ['nothing, when the service for it did not answer', '', { stderr: notAsked('samr') }, 'TARGET_TIMED_OUT unchanged'],
    [
      'not known, when the service for the second command did not answer',
      '',
      { stderr: notAsked('lsarpc') },
      'TARGET_TIMED_OUT unknown',
    ],
    ['not known, when somebody else was logged in', GUEST, {}, 'CREDENTIALS_REJECTED unknown'],
    ['not known, when a status stands anywhere', `${MARKER}NT_STATUS_PIPE_BROKEN`, {}, 'TARGET_REJECTED unknown'],
  ])('is %s', (_, stdout, more, expected) => expect(analysed(stdout, more)).toBe(expected));

  test('is never done when any status is told, wherever it stands', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(MARKER, GUEST, '\n', 'Usage: x\n', result('X'), result('ACCESS_DENIED')), {
          maxLength: 4,
        }),
        fc.constantFrom('', notAsked('samr'), notAsked('lsarpc'), notConnected('X')),
        fc.boolean(),
        (lines, stderr, isCut) => {
          const stdout = lines.join('');
          const isSilent = !`${stdout}${stderr}`.includes('NT_STATUS');
          if (analysed(stdout, { stderr, isCut }) === 'done')
            expect({ isSilent, isCut, stdout }).toMatchObject({ isSilent: true, isCut: false });
        },
      ),
    );
  });
});

describe('what came of a login', () => {
  test.each([
    ['done', MARKER, {}, 'done'],
    ['refused', '', { stderr: notConnected('ACCOUNT_LOCKED_OUT') }, 'ACCOUNT_LOCKED unchanged'],
    ['refused as a guest', GUEST, {}, 'CREDENTIALS_REJECTED unchanged'],
    ['refused after it', result('ACCESS_DENIED'), {}, 'PERMISSION_MISSING unchanged'],
    ['without an answer', '', { isCut: true }, 'TARGET_TIMED_OUT unchanged'],
  ])('is %s, and nothing is changed', (_, stdout, more, expected) =>
    expect(analysed(stdout, { ...more, isChange: false })).toBe(expected),
  );
});
