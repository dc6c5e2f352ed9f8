import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
const CAN = 'query ($checks: [AccessCheckInput!]!) { can(checks: $checks) { allowed } }';

/** As GraphQL calls a subject or an action. */
const enumOf = (name: string): string => name.replaceAll('-', '_').toUpperCase();

describe('questions', () => {
  test.each([
    ['app-connections', 'connect-app-connections', 'connectionId'],
    ['secrets', 'delete', 'eventType'],
    ['certificates', 'read', 'commonName'],
    ['certificate-profiles', 'issue-cert', 'slug'],
  ] as const)('about %s name what conditions look at: %s by %s', async (subject, action, field) => {
    const { admin, project } = await strongroom.seed.project();
    const conditions = { [field]: { $in: ['this'] } };
    const { caller } = await callerWithRules(strongroom, admin, project.id, { subject, action: [action], conditions });
    const checks = ['this', 'other'].map((value) => ({
      projectId: project.id,
      subject: enumOf(subject),
      action: enumOf(action),
      fields: { [field]: value },
    }));
    expect((await caller.data(CAN, { checks })).can.allowed).toEqual([true, false]);
  });
});
