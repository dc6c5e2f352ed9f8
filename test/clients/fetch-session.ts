// A session over REST with the client that openapi-generator makes for TypeScript. Arguments: the service's address and a token.
import { equal } from 'node:assert/strict';
import { Configuration, ProjectsApi, type ResponseError, SecretsApi } from './generated/fetch/index.js';

const [basePath = '', accessToken = ''] = process.argv.slice(2);
const configuration = new Configuration({ basePath, accessToken });
const projects = new ProjectsApi(configuration);
const secrets = new SecretsApi(configuration);

const { project } = await projects.createProject({ createProjectBody: { projectName: 'Generated fetch client' } });
const place = { projectId: project.id, environment: 'dev' };
await secrets.createSecret({ secretName: 'API_KEY', createSecretBody: { ...place, secretValue: 'correct horse' } });

const listed = await secrets.listSecrets(place);
equal(
  listed.secrets.map(({ secretKey, secretValue }) => `${secretKey}=${secretValue}`).join(),
  'API_KEY=correct horse',
);

const missing = await projects
  .getProject({ projectId: '00000000-0000-4000-8000-000000000000' })
  .catch((error: ResponseError) => error.response.json() as Promise<{ code: string }>);
equal('code' in missing && missing.code, 'PROJECT_NOT_FOUND');
