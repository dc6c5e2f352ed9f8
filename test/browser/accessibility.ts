import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe-core calls a rule that a page breaks: its name and the elements. */
export interface Violation {
  readonly rule: string;
  readonly elements: readonly string[];
}

interface AxeResult {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly {
    readonly target: readonly unknown[];
    readonly any: readonly { readonly message: string }[];
  }[];
}

/** The serious and critical violations that axe-core finds on a page as it is now. */
export async function violations(page: Page): Promise<Violation[]> {
  await page.evaluate(axe.source);
  const found = (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )) as AxeResult[];
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => ({
      rule: id,
      elements: nodes.map(({ target, any }) => `${target.join(' ')}: ${any[0]?.message ?? ''}`),
    }));
}

/**
 * Controls that look the same with and without the keyboard's focus: neither they nor what is around them gets an outline or a
 * shadow.
 *
 * @param within selector of the part of the page
 */
export async function controlsWithoutFocus(page: Page, within: string): Promise<string[]> {
  // From now on the browser takes focus as the keyboard's.
  await page.keyboard.press('Tab');
  return page.evaluate(`(() => {
    const looks = (element) => {
      const around = [];
      for (let each = element; each !== null && around.length < 5; each = each.parentElement) around.push(each);
      return around.map((each) => {
        const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(each);
        return [outlineStyle === 'none' ? 'none' : outlineWidth + outlineColor, boxShadow].join();
      }).join();
    };
    const controls = document.querySelectorAll(
      ${JSON.stringify(within)} + ' :is(a[href], button, input, select, textarea, [tabindex="0"], [contenteditable="true"])',
    );
    return [...controls].filter((control) => !control.disabled && control.checkVisibility({ visibilityProperty: true }))
      .filter((control) => {
        document.activeElement?.blur();
        const before = looks(control);
        control.focus({ preventScroll: true });
        return document.activeElement === control && looks(control) === before;
      })
      .map((control) => control.outerHTML.slice(0, 200));
  })()`) as Promise<string[]>;
}
