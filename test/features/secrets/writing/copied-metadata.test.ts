import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

/** A project may demand that metadata be encrypted after secrets with plain metadata were written. */
describe('plain metadata of a project that has it encrypted since', () => {
  const strongroom = useSharedStrongroom();

  async function older() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    const secretMetadata = [
      { key: 'plain', value: 'open', isEncrypted: false },
      { key: 'sealed', value: 'shut', isEncrypted: true },
    ];
    const { secret } = mustSucceed(
      await admin.post('/api/v4/secrets/META', { ...at, secretValue: 'v', secretMetadata }),
    ).body;
    await admin.data('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { __typename } }', {
      input: { id: project.id, enforceEncryptedSecretManagerSecretMetadata: true },
    });
    const transfer = {
      projectId: project.id,
      sourceEnvironment: 'dev',
      sourceSecretPath: '/',
      destinationEnvironment: 'prod',
      destinationSecretPath: '/',
      secretIds: [secret.id],
    };
    return { admin, project, transfer };
  }

  const metadataOf = async (caller: Caller, projectId: string, environment: string) => {
    const document = `query ($projectId: ID!, $environment: String!) { secretByKey(projectId: $projectId,
      environment: $environment, secretKey: "META") { secretValue secretMetadata { key value isEncrypted } } }`;
    return (await caller.data(document, { projectId, environment })).secretByKey;
  };

  test.each(['copy', 'move'])('is encrypted where a %s writes it again', async (verb) => {
    const { admin, project, transfer } = await older();
    mustSucceed(await admin.post(`/api/v4/secrets/${verb}`, transfer));
    expect(await metadataOf(admin, project.id, 'prod')).toEqual({
      secretValue: 'v',
      secretMetadata: [
        { key: 'plain', value: 'open', isEncrypted: true },
        { key: 'sealed', value: 'shut', isEncrypted: true },
      ],
    });
    const rows = await strongroom.sql<{ metadata: unknown }>(
      `select s.metadata from secret s join environment e on e.id = s.environment_id where s.project_id = $1 and e.slug = 'prod'`,
      [project.id],
    );
    expect(JSON.stringify(rows)).not.toContain('open');
  });
});
