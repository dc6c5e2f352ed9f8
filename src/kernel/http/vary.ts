import type { FastifyReply } from 'fastify';

/** Says that an answer depends on a request header, beside those that it is said of already. */
export function addVary(reply: FastifyReply, name: string): void {
  const present = reply.getHeader('vary');
  const names = present === undefined ? [] : String(present).split(', ');
  reply.header('vary', [...new Set([...names, name])].join(', '));
}
