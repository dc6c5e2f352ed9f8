import { describeError } from '../../src/kernel/log.js';

describe('what is said of an unexpected error', () => {
  test('is its class and its way through the code, and no line of its message', () => {
    const error = new TypeError('first cAnArY\n    at cAnArY (file.js:1:1)\n    at last cAnArY (file.js:2:2)');
    const reported = describeError(error);
    expect(reported).toMatchObject({ error: 'TypeError', at: expect.stringMatching(/log\.test/) });
    expect(JSON.stringify(reported)).not.toContain('cAnArY');
  });

  test('is nothing of its way where the message was changed since', () => {
    const error = new Error('cAnArY\n    at cAnArY (file.js:1:1)');
    // V8 writes the stack down when it is first asked for.
    expect(error.stack).toContain('cAnArY');
    error.message = 'another';
    expect(describeError(error)).toMatchObject({ error: 'Error', at: '' });
  });
});
