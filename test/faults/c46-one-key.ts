import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type AtTwoNodes, withTwoNodes } from './two-nodes.ts';

const AT_ONCE = 50;

/** The same request with one key, by many at once, at two nodes in turn. On a busy machine some are told to come back. */
const together = (admin: AtTwoNodes, send: (caller: Caller) => Promise<Reply>): Promise<Reply[]> =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, index) => send((admin[index % 2] as Caller).patient)));

const countOf = (replies: readonly Reply[], isMeant: (reply: Reply) => boolean): number =>
  replies.filter(isMeant).length;

/** Fifty creates of a secret with one key, and one with another body. @throws Error when there is more than one effect */
export async function createOnce(admin: AtTwoNodes, projectId: string): Promise<void> {
  const headers = { 'idempotency-key': randomUUID() };
  const secretKey = `KEY_${randomUUID().replaceAll('-', '')}`;
  const body = { projectId, environment: 'dev', secretValue: 'one' };
  const create = (caller: Caller) => caller.post(`/api/v4/secrets/${secretKey}`, body, headers);

  const replies = await together(admin, create);

  const answers = new Set(replies.map(({ status, text }) => `${status} ${text}`));
  expectThat(answers.size === 1, `${answers.size} different answers: ${[...answers].slice(0, 3).join(' | ')}`);
  const replayed = countOf(replies, (reply) => reply.headers['idempotency-replayed'] === 'true');
  expectThat(replies[0]?.status === 200 && replayed === AT_ONCE - 1, `${replayed} of ${AT_ONCE} were replays`);
  const other = await admin[0].post(`/api/v4/secrets/${secretKey}`, { ...body, secretValue: 'two' }, headers);
  expectThat(other.body.code === 'IDEMPOTENCY_KEY_REUSED', `another body was answered ${other.status} ${other.text}`);
  const query = new URLSearchParams({ projectId, environment: 'dev' });
  const { secrets } = mustSucceed(await admin[1].get(`/api/v4/secrets?${query}`)).body;
  const made = secrets.filter((secret: { secretKey: string }) => secret.secretKey === secretKey);
  expectThat(made.length === 1 && made[0].version === 1, `there are ${made.length} secrets`);
}

/** Fifty tokens with one key. @throws Error when more than one is made, or shown */
export async function mintOnce(admin: AtTwoNodes, identityId: string): Promise<void> {
  const headers = { 'idempotency-key': randomUUID() };
  const path = `/api/v1/auth/token-auth/identities/${identityId}/tokens`;

  const replies = await together(admin, (caller) => caller.post(path, {}, headers));

  const shown = replies.filter(({ text }) => text.includes('srt_'));
  expectThat(shown.length === 1, `${shown.length} answers show a token`);
  const id = shown[0]?.body.tokenData.id as string;
  const told = countOf(replies, ({ body, text }) => body.code === 'IDEMPOTENCY_ANSWER_WITHHELD' && text.includes(id));
  expectThat(told === AT_ONCE - 1, `${told} of ${AT_ONCE - 1} others were told which token it was`);
  const { tokens } = mustSucceed(await admin[0].get(path)).body;
  expectThat(tokens.filter((token: { id: string }) => token.id === id).length === 1, 'the token is not there');
}

export const check: Check = {
  id: 'C46',
  title: '50 parallel requests with one idempotency key, on two nodes',
  fullTimes: 20,
  run: (times) =>
    withTwoNodes(async (admin) => {
      const seed = new Seed(admin[0]);
      const project = await seed.projectOf(admin[0]);
      await repeat(times, async () => {
        await createOnce(admin, project.id);
        const { identityId } = await seed.caller(admin[0]);
        await mintOnce(admin, identityId);
      });
      return `${times * AT_ONCE * 2} requests, ${times * 2} effects`;
    }),
};
