import type { FastifyReply } from 'fastify';

/** Says that an answer depends on a request header, beside those that it is said of already. */
export function addVary(reply: FastifyReply, name: string): void {
  const present = String(reply.getHeader('vary') ?? '');
  const names = present.toLowerCase().split(/,\s*/);
  if (!names.includes(name.toLowerCase())) reply.header('vary', present === '' ? name : `${present}, ${name}`);
}
