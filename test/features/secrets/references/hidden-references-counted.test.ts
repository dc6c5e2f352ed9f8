import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
const RIGHTS = ['describeSecret', 'readValue', 'create', 'edit', 'delete'];

test('a move counts the references that follow it as far as the caller may know of them, and all follow', async () => {
  const { admin, project } = await strongroom.seed.project();
  const put = async (environment: string, secretKey: string, secretValue: string): Promise<string> => {
    const at = { projectId: project.id, environment, secretPath: '/' };
    return mustSucceed(await admin.post(`/api/v4/secrets/${secretKey}`, { ...at, secretValue })).body.secret.id;
  };
  mustSucceed(await admin.post('/api/v2/folders', { projectId: project.id, environment: 'dev', name: 'to' }));
  const id = await put('dev', 'MOVED', 'x');
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references are written so
  await put('dev', 'OPEN', '${MOVED}');
  await put('prod', 'HIDDEN', '${dev.MOVED}');
  const inDev = { subject: 'secrets', action: RIGHTS, conditions: { environment: 'dev' } };
  const { caller } = await callerWithRules(strongroom, admin, project.id, inDev);

  const move = async (who: Caller, from: string, to: string): Promise<number> => {
    const input = {
      projectId: project.id,
      source: { environment: 'dev', secretPath: from },
      destination: { environment: 'dev', secretPath: to },
      secretIds: [id],
    };
    const document = 'mutation ($input: MoveSecretsInput!) { moveSecrets(input: $input) { rewritten } }';
    return (await who.data(document, { input })).moveSecrets.rewritten;
  };
  const hidden = async (): Promise<string> => {
    const query = `projectId=${project.id}&environment=prod&expandSecretReferences=false`;
    return mustSucceed(await admin.get(`/api/v4/secrets/HIDDEN?${query}`)).body.secret.secretValue;
  };
  expect(await move(caller, '/', '/to')).toBe(1);
  expect(await hidden()).toBe('${dev.to.MOVED}');
  expect(await move(admin, '/to', '/')).toBe(2);
  expect(await hidden()).toBe('${dev.MOVED}');
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references are written so
});
