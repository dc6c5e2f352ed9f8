import { registerEnumType } from 'type-graphql';
import { z } from 'zod';
import { ListOrder, orderDirection, orderField, orderRules } from '../list-order.js';
import { pageRules } from '../paging.js';
import { argsType, enumOfRule, inputType } from './inputs.js';

const ListOrderFieldEnum = { NAME: 'NAME', CREATED_AT: 'CREATED_AT', UPDATED_AT: 'UPDATED_AT' } as const;
registerEnumType(ListOrderFieldEnum, {
  name: 'ListOrderField',
  description: 'What a list can be ordered by.',
  valuesConfig: {
    NAME: { description: 'By name, code point by code point.' },
    CREATED_AT: { description: 'By when it was made.' },
    UPDATED_AT: { description: 'By when it was last changed.' },
  },
});
enumOfRule(orderField, ListOrderFieldEnum);

const OrderDirectionEnum = { ASC: 'ASC', DESC: 'DESC' } as const;
registerEnumType(OrderDirectionEnum, {
  name: 'OrderDirection',
  description: 'The direction of an order.',
  valuesConfig: {
    ASC: { description: 'Up: A to Z, oldest first.' },
    DESC: { description: 'Down: Z to A, newest first.' },
  },
});
enumOfRule(orderDirection.unwrap(), OrderDirectionEnum);

export const ListOrderInput = inputType('ListOrderInput', ListOrder);

/** Arguments of lists by name that can be had in other orders. */
export const OrderedPageArgs = argsType(z.strictObject({ ...pageRules, ...orderRules }));
export type OrderedPageArgs = InstanceType<typeof OrderedPageArgs>;
