import { parse } from 'yaml';
import { DOCS, readDocument } from '../../kit/documents.js';
import { ERRORS } from '../../kit/error-codes.js';
import { Exposition } from '../../kit/exposition.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

/** Only where the service has a database of its own: `features/start/database-killed.test.ts` asks for them. */
const OF_EMBEDDED = ['strongroom_postgres_restarts_total', 'strongroom_disk_reserve_bytes'];

const { groups } = parse(readDocument(`${DOCS}/alert-rules.yaml`)) as { groups: { name: string; rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const allMatches = (pattern: RegExp): string[][] =>
  rules.flatMap(({ expr }) => [...expr.matchAll(pattern)].map((match) => [...match] as string[]));

describe('the alert rules', () => {
  const strongroom = useSharedStrongroom();

  test('are rules as Prometheus reads them, each name once', () => {
    expect(rules.length).toBeGreaterThanOrEqual(12);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const rule of rules) {
      expect(rule).toEqual({
        alert: expect.stringMatching(/^Strongroom[A-Z][A-Za-z]+$/),
        expr: expect.stringMatching(/\S/),
        ...(rule.for === undefined ? {} : { for: expect.stringMatching(/^\d+[smhd]$/) }),
        labels: { severity: expect.stringMatching(/^(critical|warning|info)$/) },
        annotations: { summary: expect.stringMatching(/\.$/) },
      });
      const depth = [...rule.expr].reduce((open, letter) => open + Number(letter === '(') - Number(letter === ')'), 0);
      expect([rule.alert, depth]).toEqual([rule.alert, 0]);
    }
  });

  test('ask only for metrics, labels and codes that there are', async () => {
    const page = new Exposition((await strongroom.admin.anonymous.get('/metrics')).text);
    const names = new Set(allMatches(/\b(?:strongroom|nodejs|process)_\w+/g).map(([name]) => name as string));
    expect(names.size).toBeGreaterThanOrEqual(12);
    const known = (name: string) =>
      page.types.has(name) || page.types.get(name.replace(/_bucket$/, '')) === 'histogram';
    expect([...names].filter((name) => !known(name) && !OF_EMBEDDED.includes(name))).toEqual([]);
    const codes = allMatches(/\bcode=~?"([^"]+)"/g).flatMap(([, text]) => (text as string).split('|'));
    expect(codes.length).toBeGreaterThan(0);
    expect(codes.filter((code) => !(code in ERRORS))).toEqual([]);
    for (const [, name, state] of allMatches(/(strongroom_\w+)\{state="(\w+)"\}/g)) {
      expect(page.samples).toContainEqual(
        expect.objectContaining({ name, labels: expect.objectContaining({ state }) }),
      );
    }
  });
});
