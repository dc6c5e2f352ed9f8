import { rounds } from '../../../kit/scope.ts';
import { useSharedStrongroom } from '../../../kit/strongroom.ts';

describe('writing secrets while their project is deleted', () => {
  const strongroom = useSharedStrongroom();

  test('succeeds or finds no project, and nothing else', async () => {
    const admin = (await strongroom.seed.organization()).admin.patient;
    const seen = new Set<string>();
    for (let round = 0; round < rounds(6); round += 1) {
      const project = await strongroom.seed.projectOf(admin);
      const write = (index: number) =>
        admin.post(`/api/v4/secrets/KEY_${index}`, { projectId: project.id, environment: 'dev', secretValue: 'x' });
      const writes = Array.from({ length: 30 }, (_, index) => write(index));
      const [deleted, ...replies] = await Promise.all([admin.delete(`/api/v1/projects/${project.id}`), ...writes]);
      expect(deleted?.status).toBe(200);
      for (const { status, body } of replies) seen.add(status === 200 ? 'done' : body.code);
    }
    expect(
      [...seen].filter(
        (outcome) => !['done', 'PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND'].includes(outcome),
      ),
    ).toEqual([]);
  });
});
