import type { FastifyReply } from 'fastify';

/** Says that an answer depends on a request header, beside those that it is said of already. */
export function addVary(reply: FastifyReply, name: string): void {
  const present = reply.getHeader('vary');
  reply.header('vary', present === undefined ? name : `${String(present)}, ${name}`);
}
