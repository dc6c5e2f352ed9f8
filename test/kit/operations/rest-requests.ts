import { fill, type Operation, type RestOperation, thingsIn } from './operation.js';
import { REST } from './rest.js';

/** The routes, as requests to be sent. */
export const restOperations = (): Operation[] => REST.map(restRequest);

export function restRequest(operation: RestOperation): Operation {
  const { route, path, query, body } = operation;
  const [method, pattern] = route.split(' ') as [string, string];
  return {
    ...operation,
    name: route,
    changes: method !== 'GET',
    things: thingsIn([path, query, body]),
    send: (caller, ids, headers) => {
      const given = fill({ path, query, body }, ids);
      const at = pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(given.path[name])));
      const search = String(new URLSearchParams(given.query));
      return caller.request({
        method,
        path: search === '' ? at : `${at}?${search}`,
        ...(headers === undefined ? {} : { headers }),
        ...(given.body === undefined ? {} : { body: given.body }),
      });
    },
  };
}
