import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parse } from 'yaml';
import { KIND_NAMES } from '../../../src/features/operations/attention/kinds/kinds.js';
import { describeWith } from '../../kit/describe-with.js';
import { anchorsOf, DOCS, readDocument } from '../../kit/documents.js';
import { ERRORS } from '../../kit/error-codes.js';
import { Exposition } from '../../kit/exposition.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
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
        annotations: {
          summary: expect.stringMatching(/\.$/),
          runbook_url: expect.stringMatching(/^[a-z]+\.md(#[a-z-]+)?$/),
        },
      });
      const depth = [...rule.expr].reduce((open, letter) => open + Number(letter === '(') - Number(letter === ')'), 0);
      expect([rule.alert, depth]).toEqual([rule.alert, 0]);
    }
  });

  test('each lead to a section of the documents', () => {
    const broken = rules.filter(({ annotations }) => {
      const [file = '', anchor] = annotations.runbook_url.split('#');
      return anchor !== undefined && !anchorsOf(readDocument(`${DOCS}/${file}`)).has(anchor);
    });
    expect(broken.map(({ alert }) => alert)).toEqual([]);
  });

  test('cover everything that needs a person', () => {
    const covered = allMatches(/strongroom_attention_items\{kind="([a-z-]+)"\}/g).map(([, kind]) => kind);
    // Those of jobs name the kind of the job instead.
    expect([...covered, 'job-failed'].toSorted()).toEqual(KIND_NAMES.toSorted());
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

describeWith(['promtool'], 'the alert rules in Prometheus', () => {
  test.each([
    ['check', join(DOCS, 'alert-rules.yaml')],
    ['test', join(import.meta.dirname, 'alert-rules.yaml')],
  ])('pass `promtool %s rules`', (command, file) => {
    const { status, stdout, stderr } = spawnSync('promtool', [command, 'rules', file], { encoding: 'utf8' });
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: expect.stringContaining('SUCCESS') });
  });
});
