import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { mustSucceed } from '../kit/caller.js';
import { describeWith } from '../kit/describe-with.js';
import { Issuer, PIPELINE } from '../kit/outside/issuer.js';
import { LENIENT, useSharedStrongroom } from '../kit/strongroom.js';

const run = promisify(execFile);
const PYTHON = resolve(import.meta.dirname, '../../node_modules/.cache/strongroom-python-sdk');
/** The first run on a machine fetches the library. */
const FETCHED_WITHIN_MS = 300_000;

const SESSION = `
import os
from infisical_sdk import InfisicalSDKClient
client = InfisicalSDKClient(host=os.environ["HOST"])
session = client.auth.oidc_auth.login(identity_id=os.environ["IDENTITY"], jwt=os.environ["JWT"])
print(session.tokenType, session.expiresIn)
for secret in client.secrets.list_secrets(project_id=os.environ["PROJECT"], environment_slug="dev", secret_path="/").secrets:
    print(secret.secretKey, secret.secretValue)
`;

describeWith(['python3'], 'the Python SDK', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let issuer: Issuer;

  beforeAll(async () => {
    issuer = await Issuer.start();
    await run('python3', ['-m', 'venv', PYTHON]);
    await run(join(PYTHON, 'bin/python'), [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      'infisicalsdk==1.0.18',
    ]);
  }, FETCHED_WITHIN_MS);
  afterAll(() => issuer.stop());

  test('logs in with the token of a pipeline, and reads', async () => {
    const { admin, project } = await strongroom.seed.project();
    await strongroom.seed.secrets(admin, project, 'dev', 1);
    const { identityId } = await strongroom.seed.caller(admin, { project: project.id });
    const bound = { oidcDiscoveryUrl: issuer.url, caCert: issuer.authorityPem, boundIssuer: issuer.url };
    mustSucceed(
      await admin.post(`/api/v1/auth/oidc-auth/identities/${identityId}`, {
        ...{ ...bound, boundSubject: PIPELINE.sub, accessTokenTTL: 600 },
      }),
    );
    const env = {
      HOST: strongroom.url,
      IDENTITY: identityId as string,
      PROJECT: project.id,
      JWT: await issuer.token(),
    };
    const { stdout } = await run(join(PYTHON, 'bin/python'), ['-c', SESSION], { env: { ...process.env, ...env } });
    expect(stdout.trim().split('\n')).toEqual(['Bearer 600', 'KEY_00000 value-0']);
  });
});
