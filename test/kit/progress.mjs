import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { expectedMs, suites } from './order.mjs';

const MINUTE_MS = 60_000;
const duration = (ms) => (ms < 2 * MINUTE_MS ? `${Math.ceil(ms / 1_000)} s` : `${Math.round(ms / MINUTE_MS)} min`);
const nameOf = ({ path, context }) => relative(context.config.rootDir, path);
const say = (text) => process.stderr.write(`${text}\n`);
const sum = (tests) => tests.reduce((total, test) => total + expectedMs(test), 0);

/**
 * What a run says of itself: one line for each suite, with how many there are and how long the others will take; each failed test as
 * soon as it is known, and all of them once more at the end.
 */
export default class Progress {
  #start = performance.now();
  #done = [];
  #failures = [];
  #failedSuites = new Set();
  #workers;

  constructor({ maxWorkers }) {
    this.#workers = maxWorkers;
  }

  onRunStart() {
    say(`${suites.length} suites, about ${duration(sum(suites) / this.#workers)}`);
  }

  onTestCaseResult(test, { status, fullName, failureMessages }) {
    if (status === 'failed') this.#fail(test, fullName, failureMessages);
  }

  onTestResult(test, { testExecError, numFailingTests, failureMessage, perfStats }) {
    this.#done.push(test);
    // Nothing of it ran, or something failed before or after its tests.
    const isBroken = Boolean(testExecError) || (numFailingTests === 0 && Boolean(failureMessage));
    if (isBroken) this.#fail(test, '', [failureMessage]);
    const verdict = isBroken || numFailingTests > 0 ? 'FAILED' : 'ok';
    say(`${verdict} ${nameOf(test)} ${duration(perfStats.runtime)}   ${this.#progress()}`);
  }

  onRunComplete(_, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests, wasInterrupted }) {
    if (this.#failures.length > 0) say(`\n${this.#failures.join('\n')}`);
    if (wasInterrupted) say('Interrupted: not all suites were run.');
    else if (process.env.FAILED_SUITES)
      writeFileSync(process.env.FAILED_SUITES, JSON.stringify([...this.#failedSuites]));
    say(`${this.#done.length} suites in ${duration(performance.now() - this.#start)}`);
    say(`${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed, ${numPendingTests} skipped`);
  }

  #fail(test, name, messages) {
    const lines = messages.join('\n').split('\n');
    const text = lines.filter((line) => !/^ +at .*(node_modules|node:internal)/.test(line)).join('\n');
    const failure = `FAILED ${nameOf(test)}: ${name}\n\n${text}\n`;
    this.#failures.push(failure);
    this.#failedSuites.add(nameOf(test));
    say(failure);
  }

  /** What is left takes as much longer than expected as what is done has. */
  #progress() {
    const [done, left] = [sum(this.#done), sum(suites) - sum(this.#done)];
    const elapsed = performance.now() - this.#start;
    return `${this.#done.length}/${suites.length}, ${left > 0 ? `${duration((elapsed * left) / done)} left` : 'done'}`;
  }
}
