import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { describeWith } from '../kit/describe-with.ts';

/** For a machine with much else to do: a page is a program of some megabytes. */
const PAGE_WITHIN_MS = 120_000;
const CHROMIUM = '/usr/bin/chromium';
const PICTURES = join(tmpdir(), 'strongroom-pictures');

/** `describe` for tests in a real browser: see `describeWith`. */
export function describeInBrowser(name: string, tests: (open: Open) => void): void {
  describeWith([CHROMIUM], name, () => {
    jest.setTimeout(2 * PAGE_WITHIN_MS);
    let browser: Browser;
    const visits: Visit[] = [];
    beforeAll(async () => {
      const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
      browser = await chromium.launch({ executablePath: CHROMIUM, args, timeout: PAGE_WITHIN_MS });
      await mkdir(PICTURES, { recursive: true });
    });
    afterEach(async () => {
      for (const visit of visits.splice(0)) await visit.page.context().close();
    });
    afterAll(() => browser?.close());
    tests(async (origin, options = {}) => {
      const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
      context.setDefaultTimeout(PAGE_WITHIN_MS);
      const visit = new Visit(await context.newPage(), origin);
      visits.push(visit);
      await visit.listen();
      return visit;
    });
  });
}

export type Open = (origin: string, options?: BrowserContextOptions) => Promise<Visit>;

/** A page in a browser of its own, and all that went wrong in it. */
export class Visit {
  /** Errors in the console, exceptions, broken rules of the content security policy, and requests to other origins. */
  readonly violations: string[] = [];
  readonly page: Page;
  readonly #origin: string;

  constructor(page: Page, origin: string) {
    this.page = page;
    this.#origin = origin;
  }

  async listen(): Promise<void> {
    const { page, violations } = this;
    page.on('console', (line) => {
      if (['error', 'warning'].includes(line.type())) violations.push(`console: ${line.text()}`);
    });
    page.on('pageerror', (error) => violations.push(`exception: ${error.message}`));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'data:' && origin !== this.#origin) violations.push(`request to ${origin}`);
    });
    await page.exposeFunction('brokenPolicy', (rule: string) => violations.push(`policy: ${rule}`));
    await page.addInitScript(
      `addEventListener('securitypolicyviolation', (event) => brokenPolicy(event.effectiveDirective + ' ' + event.blockedURI))`,
    );
  }

  /** What the page keeps beyond the tab, and in it. */
  kept(): Promise<{ local: string; session: string; address: string }> {
    return this.page.evaluate(
      `({ local: JSON.stringify({ ...localStorage }), session: JSON.stringify({ ...sessionStorage }), address: location.href })`,
    );
  }

  /** Keeps a picture of the page, for people. */
  async picture(name: string): Promise<void> {
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }
}
