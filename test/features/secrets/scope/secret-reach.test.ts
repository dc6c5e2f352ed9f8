import { abilityOf } from '../../../../src/features/identity/permissions/ability.js';
import type { ProjectAccess } from '../../../../src/features/projects/public.js';
import { type CrossProjectAction, SecretReach } from '../../../../src/features/secrets/core/secret-reach.js';
import type { Rule } from '../../../../src/kernel/authz/ability.js';

const project = (projectId: string, ...rules: Rule[]): ProjectAccess =>
  ({ projectId, ability: abilityOf(rules) }) as unknown as ProjectAccess;
const secrets = (action: string | string[], conditions?: Rule['conditions'], inverted = false): Rule => ({
  subject: 'secrets',
  action,
  inverted,
  ...(conditions === undefined ? {} : { conditions }),
});

const projects = [
  project('open', secrets(['describeSecret', 'readValue'])),
  project('older', secrets('read')),
  project('described', secrets('describeSecret')),
  project('blind', secrets('readValue')),
  project('nothing'),
  project('dev', secrets('read', { environment: 'dev' })),
  project('untagged', secrets('read'), secrets('readValue', { secretTags: { $in: ['top'] } }, true)),
];
const reach = (action: CrossProjectAction) => new SecretReach(projects, action);
const secret = (projectId: string, environment: string, ...tags: string[]) => ({
  projectId,
  environment,
  path: '/',
  key: 'KEY',
  tags: tags.map((slug) => ({ slug })),
});

describe('the reach of a question across projects', () => {
  test('has the projects in which some secret may be seen, and of them those in which all may be', () => {
    const known = reach('secrets:describeSecret');
    expect(known.projectIds).toEqual(['open', 'older', 'described', 'dev', 'untagged']);
    expect(known.openProjectIds).toEqual(['open', 'older', 'described']);
    const read = reach('secrets:readValue');
    expect(read.projectIds).toEqual(['open', 'older', 'dev', 'untagged']);
    expect(read.openProjectIds).toEqual(['open', 'older']);
    expect([read.isOpen, new SecretReach(projects.slice(0, 5), 'secrets:readValue').isOpen]).toEqual([false, true]);
  });

  test.each([
    ['open', [true, true, true]],
    ['older', [true, true, true]],
    ['described', [true, true, true]],
    ['blind', [false, false, false]],
    ['nothing', [false, false, false]],
    ['dev', [true, false, true]],
    ['untagged', [true, true, true]],
    ['elsewhere', [false, false, false]],
  ])('decides by the rules of the project %s who may know of a secret', (id, expected) => {
    const subjects = [secret(id, 'dev'), secret(id, 'prod'), secret(id, 'dev', 'top')];
    expect(subjects.map(reach('secrets:describeSecret').includes)).toEqual(expected);
  });

  test.each([
    ['open', [true, true, true]],
    ['described', [false, false, false]],
    ['dev', [true, false, true]],
    ['untagged', [true, true, false]],
  ])('decides by the rules of the project %s whose value may be read', (id, expected) => {
    const subjects = [secret(id, 'dev'), secret(id, 'prod'), secret(id, 'dev', 'top')];
    expect(subjects.map(reach('secrets:readValue').includes)).toEqual(expected);
  });
});
