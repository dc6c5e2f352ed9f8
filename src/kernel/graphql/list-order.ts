import { registerEnumType } from 'type-graphql';
import * as z from 'zod';
import { ListOrder, orderDirection, orderField, orderRules } from '../list-order.js';
import { pageRules } from '../paging.js';
import { argsType, enumOfRule, inputType } from './inputs.js';

const ListOrderFieldEnum = { NAME: 'NAME', CREATED_AT: 'CREATED_AT', UPDATED_AT: 'UPDATED_AT' } as const;
registerEnumType(ListOrderFieldEnum, {
  name: 'ListOrderField',
  description: 'Fields that a list can be sorted by.',
  valuesConfig: {
    NAME: { description: 'Name, by Unicode code point.' },
    CREATED_AT: { description: 'Creation time.' },
    UPDATED_AT: { description: 'Time of the last change.' },
  },
});
enumOfRule(orderField, ListOrderFieldEnum);

const OrderDirectionEnum = { ASC: 'ASC', DESC: 'DESC' } as const;
registerEnumType(OrderDirectionEnum, {
  name: 'OrderDirection',
  description: 'Sort directions.',
  valuesConfig: {
    ASC: { description: 'Ascending: A to Z, oldest first.' },
    DESC: { description: 'Descending: Z to A, newest first.' },
  },
});
enumOfRule(orderDirection.unwrap(), OrderDirectionEnum);

inputType('ListOrderInput', ListOrder);

/** Arguments of lists that callers can sort. */
export const OrderedPageArgs = argsType(z.strictObject({ ...pageRules, ...orderRules }));
export type OrderedPageArgs = InstanceType<typeof OrderedPageArgs>;
