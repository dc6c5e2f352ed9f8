import { randomUUID } from 'node:crypto';
import { findCandidates } from '../../../src/features/notifications/alert-deliveries/matching.js';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import fc from '../../kit/properties.js';
import { rounds } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { makeAlert, seedProject, violationsOf } from '../alerts/kit.js';
import { makeAuthority } from '../certificates/kit.js';
import { type Copied, copies } from './kit.js';

const strongroom = useSharedStrongroom();
const ALERTS = '/api/v1/cert-manager/alerts';
const CAS = [{ field: 'include_cas', operator: 'equals', value: 'true' }];

const copy = (admin: Caller, projectId: string, made: readonly Copied[]): Promise<string[]> =>
  copies((text, params) => strongroom.sql(text, params), { admin, projectId }, made);
const preview = async (admin: Caller, projectId: string, body: object = {}) =>
  mustSucceed(
    await admin.post(`${ALERTS}/preview/certificates`, { projectId, filters: [], alertBefore: '30d', ...body }),
  ).body;
const namesOf = ({ certificates }: { certificates: { commonName: string }[] }) =>
  certificates.map(({ commonName }) => commonName);
describe('a preview', () => {
  test('has what expires in time and is neither replaced nor revoked, soonest first, of all filters', async () => {
    const { admin, project } = await seedProject(strongroom);
    await copy(admin, project.id, [
      { name: 'b.example.com', days: 20 },
      { name: 'a.example.com', days: 3, sans: ['x.example.com', 'a.example.com'] },
      { name: 'later.example.com', days: 31 },
      { name: 'over.example.com', days: -1 },
      { name: 'revoked.example.com', days: 5, isRevoked: true },
      { name: 'renewed.example.com', days: 5, sans: ['1', '2'], profile: 'web' },
      { name: 'renewed.example.com', days: 300, sans: ['2', '1', '2'], profile: 'web' },
      { name: 'other.test', days: 4 },
    ]);
    const filters = [{ field: 'common_name', operator: 'matches', value: '*.EXAMPLE.com' }];
    const found = await preview(admin, project.id, { filters });
    expect(namesOf(found)).toEqual(['a.example.com', 'b.example.com']);
    expect(found).toMatchObject({
      total: 2,
      certificates: [{ isCa: false, sans: ['x.example.com', 'a.example.com'] }, {}],
    });
    expect(found.nextCursor).toBeUndefined();
    const first = await preview(admin, project.id, { filters, limit: 1 });
    expect([namesOf(first), first.total]).toEqual([['a.example.com'], 2]);
    expect(namesOf(await preview(admin, project.id, { filters, cursor: first.nextCursor }))).toEqual(['b.example.com']);
    expect(namesOf(await preview(admin, project.id, { filters, offset: 1 }))).toEqual(['b.example.com']);
    // Another question: a position could be that of a hidden row.
    const other = { projectId: project.id, filters: [], alertBefore: '30d', cursor: first.nextCursor };
    expect(violationsOf(await admin.post(`${ALERTS}/preview/certificates`, other))).toEqual([
      'body.cursor INVALID_CURSOR',
    ]);
    // Of other events: whenever it expires, and replaced or not.
    const revocation = await preview(admin, project.id, { filters, eventType: 'revocation' });
    expect(namesOf(revocation)).toEqual([
      ...['a.example.com', 'renewed.example.com', 'b.example.com', 'later.example.com', 'renewed.example.com'],
    ]);
    const refused = {
      projectId: project.id,
      filters: [{ field: 'san', operator: 'matches', value: '[' }],
      alertBefore: '0d',
    };
    expect(violationsOf(await admin.post(`${ALERTS}/preview/certificates`, refused))).toEqual([
      'body.alertBefore INVALID_FORMAT',
      'body.filters[0].value INVALID',
    ]);
  });

  test('looks at all names where a filter does, however many there are', async () => {
    const { admin, project } = await seedProject(strongroom);
    const sans = Array.from({ length: 300 }, (_, at) => `n${at}.example.com`);
    await copy(admin, project.id, [
      { name: 'many.example.com', days: 3, sans },
      { name: 'few.example.com', days: 4 },
    ]);
    const filters = [{ field: 'san', operator: 'matches', value: 'n299.*.com' }];
    const found = await preview(admin, project.id, { filters });
    expect(namesOf(found)).toEqual(['many.example.com']);
    expect((await preview(admin, project.id)).certificates[0].sans).toEqual(sans.slice(0, 100));
  });

  test('has authorities where a filter includes them, unless they are disabled', async () => {
    const { admin, project } = await seedProject(strongroom);
    const authority = await makeAuthority(admin, project.id, { validDays: 20 });
    await copy(admin, project.id, [{ name: 'leaf.example.com', days: 4 }]);
    expect(namesOf(await preview(admin, project.id))).toEqual(['leaf.example.com']);
    const document = `query ($id: ID!) { previewCertificateAlert(projectId: $id, alertBefore: "30d",
      filters: [{ field: INCLUDE_CAS, operator: EQUALS, value: "true" }]) {
        nodes { subjectId isCa certificate { commonName } authority { name } } totalCount isScanLimitReached } }`;
    const { previewCertificateAlert } = await admin.data(document, { id: project.id });
    expect(previewCertificateAlert).toMatchObject({
      totalCount: 2,
      isScanLimitReached: false,
      nodes: [
        { isCa: false, certificate: { commonName: 'leaf.example.com' }, authority: null },
        { subjectId: authority.id, isCa: true, certificate: null, authority: { name: authority.name } },
      ],
    });
    mustSucceed(await admin.patch(`/api/v1/cert-manager/ca/${authority.id}`, { status: 'disabled' }));
    expect(namesOf(await preview(admin, project.id, { filters: CAS }))).toEqual(['leaf.example.com']);
  });

  test('has nothing that the caller may not read', async () => {
    const { admin, project } = await seedProject(strongroom);
    await makeAuthority(admin, project.id, { validDays: 20 });
    await copy(admin, project.id, [
      { name: 'shop.example.com', days: 4 },
      { name: 'bank.example.com', days: 3 },
    ]);
    const { id } = await makeAlert(admin, project.id, { filters: CAS });
    const read = { subject: 'pki-alerts', action: 'read' };
    const some = { subject: 'certificates', action: 'read', conditions: { commonName: { $glob: 'shop.*' } } };
    const roles: readonly (readonly [readonly object[], readonly string[]])[] = [
      [[read], []],
      [[read, some], ['shop.example.com']],
      [[read, { subject: 'certificate-authorities', action: 'read' }], ['Example Root']],
    ];
    for (const [permissions, names] of roles) {
      const slug = `role-${randomUUID().slice(0, 8)}`;
      mustSucceed(await admin.post(`/api/v1/projects/${project.id}/roles`, { slug, name: slug, permissions }));
      const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [slug] });
      const found = await preview(caller, project.id, { filters: CAS });
      expect([namesOf(found), found.total]).toEqual([names, names.length]);
      expect(namesOf(mustSucceed(await caller.get(`${ALERTS}/${id}/certificates`)).body)).toEqual(names);
    }
  });
});

describe('many alerts and certificates', () => {
  test('take the same statements as one of each', async () => {
    const documents = [
      'query ($id: ID!) { project(id: $id) { certificateAlerts { nodes { certificates(first: 5) { nodes { commonName } } } } } }',
      'query ($id: ID!) { project(id: $id) { certificates(expiresBefore: "2100-01-01T00:00:00Z") { nodes { alerts { id channels { id } } } } } }',
    ];
    const decisions = `query ($id: ID!) { alertDecisions(certificateId: $id) { nodes { outcome dueAt alert { id channels { id } }
      messages { id recipient } } } }`;
    const counts: number[][] = [];
    for (const size of [1, 7]) {
      const { admin, project } = await seedProject(strongroom);
      const ids = await copy(
        admin,
        project.id,
        Array.from({ length: size }, (_, at) => ({ name: `n${at}`, days: 5 + at })),
      );
      for (let made = 0; made < size; made += 1)
        await makeAlert(admin, project.id, {
          enabled: false,
          filters: [{ field: 'common_name', operator: 'not_equals', value: `n${made + 1}` }],
        });
      const asked = [
        ...documents.map((document) => [document, project.id] as const),
        [decisions, ids[0] as string] as const,
      ];
      const taken: number[] = [];
      for (const [document, id] of asked) {
        await admin.data(document, { id });
        const { result, count } = await strongroom.statements(() => admin.data(document, { id }));
        taken.push(count);
        if (size === 1) continue;
        const { certificateAlerts, certificates } = result.project ?? {};
        for (const { certificates: shown } of certificateAlerts?.nodes ?? []) expect(shown.nodes).toHaveLength(5);
        if (certificates !== undefined)
          expect(certificates.nodes.map(({ alerts }: { alerts: object[] }) => alerts.length)).toEqual([
            7,
            ...Array(6).fill(6),
          ]);
        if (result.alertDecisions !== undefined) expect(result.alertDecisions.nodes).toHaveLength(7);
      }
      counts.push(taken);
    }
    expect(counts[1]).toEqual(counts[0]);
  });
});

describe('messages of many alerts', () => {
  test('take the same statements as those of one', async () => {
    const document = `query ($id: ID!) { project(id: $id) { certificateAlerts { nodes {
      lastMessage { recipient } messages(first: 5) { nodes { id recipient channel { id } certificates { id } alert { id } } } } } } }`;
    const counts: number[] = [];
    for (const size of [1, 6]) {
      const { admin, project } = await seedProject(strongroom);
      for (let made = 0; made < size; made += 1)
        await strongroom.seed.failedMessage((await makeAlert(admin, project.id)).id);
      await admin.data(document, { id: project.id });
      const { result, count } = await strongroom.statements(() => admin.data(document, { id: project.id }));
      expect(result.project.certificateAlerts.nodes).toHaveLength(size);
      for (const alert of result.project.certificateAlerts.nodes) expect(alert.messages.nodes).toHaveLength(1);
      counts.push(count);
    }
    expect(counts[1]).toBe(counts[0]);
  });
});

describe('a certificate that was replaced', () => {
  const names = fc.array(fc.constantFrom('a', 'A', 'ä', 'b,c', 'b', '{b}', '', 'null'), { maxLength: 4 });
  const made = fc.record({
    name: fc.constantFrom('x', 'y'),
    profile: fc.constantFrom(null, 'null', 'web'),
    sans: names,
  });

  test('is one of a profile with a later certificate of the same common name, profile and set of names', async () => {
    const query = <R extends object>(text: string, params?: readonly unknown[]) =>
      strongroom.sql<R & Record<string, unknown>>(text, [...(params ?? [])]);
    await fc.assert(
      fc.asyncProperty(fc.array(made, { minLength: 1, maxLength: 12 }), async (given) => {
        const { admin, project } = await seedProject(strongroom);
        const rows = given.map((one, at) => ({ ...one, days: 5 + at }));
        await copy(admin, project.id, rows);
        const identityOf = ({ name, profile, sans }: (typeof given)[number]) =>
          JSON.stringify([name, profile, [...new Set(sans)].sort()]);
        const last = rows.filter(
          (row, at) =>
            row.profile === null || !rows.slice(at + 1).some((other) => identityOf(other) === identityOf(row)),
        );
        const search = { projectId: project.id, filters: [], period: '30d', after: null };
        const [found = []] = await findCandidates(query, [search], 100);
        expect(found.map(({ commonName, sans }) => [commonName, sans])).toEqual(
          last.map(({ name, sans }) => [name, sans]),
        );
      }),
      { numRuns: rounds(15) },
    );
  });

  test('is found by an index, without a look at names', async () => {
    const { admin, project } = await seedProject(strongroom);
    const sans = Array.from({ length: 500 }, (_, at) => `n${at}.example.com`);
    await copy(
      admin,
      project.id,
      Array.from({ length: 200 }, (_, at) => ({ name: 'same', days: 1 + at / 10, sans })),
    );
    await strongroom.sql('analyze certificate');
    const plans: string[] = [];
    const explain = async <R extends object>(text: string, params?: readonly unknown[]) => {
      const rows = await strongroom.sql(`explain (verbose) ${text}`, [...(params ?? [])]);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return [] as R[];
    };
    await findCandidates(explain as never, [{ projectId: project.id, filters: [], period: '30d', after: null }], 100);
    expect(plans[0]).toContain('certificate_names_index');
    expect(plans[0]).not.toMatch(/n(_\d+)?\.sans/);
  });
});
