/** The bodies of refused requests in the API document. */
import { VALIDATION_TYPES } from '../core/validation-messages.ts';
import type { JsonSchema } from './openapi-document.ts';

const MACHINE_READABLE = {
  type: 'object',
  properties: {
    code: { type: 'string', description: 'Machine code of the refusal; stable, for programs.' },
    message: { type: 'string', description: 'Sentence for people, in the language of the request where one is known.' },
    error_code: { type: 'string', description: 'The same as `code`.' },
  },
  required: ['code', 'message'],
  additionalProperties: true,
};
const DETAIL = {
  anyOf: [{ type: 'string' }, MACHINE_READABLE],
  description: 'A sentence, or an object with a machine code.',
};
const ISSUES = {
  type: 'array',
  items: { $ref: '#/components/schemas/HTTPValidationIssue' },
  description: 'One entry for each value that was refused.',
};

/** Components by their names, as `error-replies.ts` sends them. */
export const ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  HTTPError: { type: 'object', properties: { detail: DETAIL }, required: ['detail'] },
  HTTPValidationError: { type: 'object', properties: { detail: ISSUES }, required: ['detail'] },
  HTTPValidationIssue: {
    type: 'object',
    properties: {
      loc: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Place of the value: `body`, `query`, `path`, `header` or `cookie`, then the path to the field; array indexes as text.',
      },
      msg: { type: 'string', description: 'Sentence for people that describes the problem.' },
      type: { type: 'string', enum: VALIDATION_TYPES, description: 'Machine code of the violated rule.' },
      input: { description: 'The value that was refused; null where it cannot be shown.' },
      ctx: {
        type: 'object',
        description: 'Bounds of the violated rule, for example `{"min_length": 3}`; absent where the rule has none.',
      },
    },
    required: ['loc', 'msg', 'type'],
  },
};
