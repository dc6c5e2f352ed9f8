import { randomUUID } from 'node:crypto';
import { Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { ALERT, ALERTS, EMAIL, makeAlert, seedProject, violationsOf } from './kit.js';

const strongroom = useSharedStrongroom();

const UPDATE = 'mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { __typename } }';
const allow = (admin: Caller, id: string, allowedEmailDomains: readonly string[]) =>
  admin.data(UPDATE, { input: { id, allowedEmailDomains } });
const mailTo = (...recipients: string[]) => ({ ...EMAIL, config: { recipients } });
const messagesOf = (reply: { body: { details: { message: string }[] } }) =>
  reply.body.details.map(({ message }) => message);
const SHOULD = 'must have an email domain that the organization allows';

describe('an organization that bounds its mails to domains', () => {
  test('refuses other addresses of alerts, all at once with other faults', async () => {
    const { admin, organization, project } = await seedProject(strongroom);
    const before = await makeAlert(admin, project.id, { channels: [mailTo('old@canary.example')] });
    await allow(admin, organization.id, ['example.com', 'bücher.example']);
    const channels = [
      mailTo('ann@EXAMPLE.com', 'bob@canary.example', 'eve@xn--bcher-kva.example'),
      mailTo('c@sub.example.com', 'd@notexample.com'),
      { ...EMAIL, config: { userIds: [randomUUID()] } },
    ];
    const refused = await admin.post(ALERTS, { ...ALERT, projectId: project.id, channels });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(refused)).toEqual([
      'body.channels[0].config DOMAIN_NOT_ALLOWED',
      ...['body.channels[1].config DOMAIN_NOT_ALLOWED', 'body.channels[1].config DOMAIN_NOT_ALLOWED'],
      'body.channels[2].config INVALID',
    ]);
    expect(messagesOf(refused)).toEqual([
      ...[`recipients[1] ${SHOULD}`, `recipients[0] ${SHOULD}`, `recipients[1] ${SHOULD}`],
      'userIds[0] must be a member of the project',
    ]);
    expect(refused.text).not.toContain('canary');
    // What is there already stays until it is given anew.
    const path = `${ALERTS}/${before.id}`;
    mustSucceed(await admin.patch(path, { name: 'Renamed' }));
    const [{ id }] = before.channels;
    mustSucceed(await admin.patch(path, { channels: [{ id, channelType: 'email', enabled: false }] }));
    expect(violationsOf(await admin.patch(path, { channels: [{ ...mailTo('old@canary.example'), id }] }))).toEqual([
      'body.channels[0].config DOMAIN_NOT_ALLOWED',
    ]);
    mustSucceed(await admin.patch(path, { channels: [{ ...mailTo('new@example.com'), id }] }));
  });

  test('refuses them of channels of projects, at their places', async () => {
    const { admin, organization, project } = await seedProject(strongroom);
    await allow(admin, organization.id, ['example.com']);
    const path = `/api/v1/projects/${project.id}/notification-channels`;
    const config = { email: { recipients: ['ann@example.com', 'bob@canary.example'] } };
    const refused = await admin.post(path, { name: 'mail', config });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(refused)).toEqual(['body.config.email.recipients[1] DOMAIN_NOT_ALLOWED']);
    expect(refused.text).not.toContain('canary');
    const made = mustSucceed(
      await admin.post(path, { name: 'mail', config: { email: { recipients: ['ann@example.com'] } } }),
    );
    const { id } = made.body.notificationChannel;
    expect(violationsOf(await admin.patch(`${path}/${id}`, { config }))).toEqual([
      'body.config.email.recipients[1] DOMAIN_NOT_ALLOWED',
    ]);
  });

  test('bounds those of a sub-organization, unless that has domains of its own', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const { createSubOrganization } = await admin.data(
      'mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id slug } } }',
      { input: { name: 'team' } },
    );
    const sub = createSubOrganization.organization;
    const { createAccessToken } = await admin.data(
      'mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { accessToken } }',
      { input: { identityId: admin.identityId, organizationSlug: sub.slug } },
    );
    const below = new Caller(admin.url, createAccessToken.accessToken);
    const { id: projectId } = await strongroom.seed.projectOf(below, { type: 'cert-manager' });
    const make = (address: string) => below.post(ALERTS, { ...ALERT, projectId, channels: [mailTo(address)] });
    mustSucceed(await make('ann@any.example'));
    await allow(admin, organization.id, ['root.example']);
    expect(await make('ann@any.example')).toBeError(422, 'VALIDATION_FAILED');
    mustSucceed(await make('ann@root.example'));
    await allow(admin, sub.id, ['sub.example']);
    expect(await make('ann@root.example')).toBeError(422, 'VALIDATION_FAILED');
    mustSucceed(await make('ann@sub.example'));
  });

  test('takes the same statements whatever the number of channels and addresses', async () => {
    const { admin, organization, project } = await seedProject(strongroom);
    await allow(admin, organization.id, ['example.com']);
    const make = (count: number) => {
      const addresses = Array.from({ length: count }, (_, at) => `p${at}@example.com`);
      return strongroom.statements(() =>
        makeAlert(admin, project.id, { channels: addresses.map(() => mailTo(...addresses)) }),
      );
    };
    await make(1);
    expect((await make(10)).count).toBe((await make(1)).count);
  });
});
