import { describe, expect, it } from 'vitest';
import { findFalseNulls, findRepeatedTexts } from '../../../scripts/checks/field-texts.ts';
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from '../../../src/rest/openapi-document.ts';

/** One group with one operation, which answers the component `Answer<group>` with these fields. */
const group = (name: string, properties: Record<string, JsonSchema>) => ({ name, properties });

function documentOf(...groups: ReturnType<typeof group>[]): OpenApiDocument {
  const operation = (name: string): OpenApiOperation => ({
    operationId: name,
    tags: [name],
    summary: name,
    security: [],
    responses: { '200': { content: { 'application/json': { schema: { $ref: `#/components/schemas/Answer${name}` } } } } },
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Things', version: '1.0.0' },
    servers: [],
    tags: groups.map(({ name }) => ({ name })),
    paths: Object.fromEntries(groups.map(({ name }) => [`/${name}`, { get: operation(name) }])),
    components: {
      schemas: Object.fromEntries(groups.map(({ name, properties }) => [`Answer${name}`, { type: 'object', properties }])),
      securitySchemes: {},
    },
  };
}

const field = (description: string): JsonSchema => ({ type: 'string', description });
const groupsOf = (count: number, name: string, text = 'The text.') =>
  Array.from({ length: count }, (_, at) => group(`g${at}`, { [name]: field(text) }));

describe('findRepeatedTexts', () => {
  it('finds a text of four names, not of three', () => {
    const named = (names: string[]) =>
      documentOf(group('a', Object.fromEntries(names.map((name) => [name, field('The text.')]))));
    expect(findRepeatedTexts(named(['p', 'q', 'r']))).toEqual([]);
    expect(findRepeatedTexts(named(['p', 'q', 'r', 's']))).toEqual([{ text: 'The text.', name: null, isDefault: false }]);
  });

  it('finds a text of a common name in four groups as a default, which no list excuses', () => {
    expect(findRepeatedTexts(documentOf(...groupsOf(3, 'items')))).toEqual([]);
    expect(findRepeatedTexts(documentOf(...groupsOf(4, 'items')))).toEqual([
      { text: 'The text.', name: 'items', isDefault: true },
    ]);
    expect(findRepeatedTexts(documentOf(...groupsOf(4, 'id')))).toEqual([{ text: 'The text.', name: 'id', isDefault: false }]);
  });

  it('lets a name with one meaning have one text everywhere', () => {
    expect(findRepeatedTexts(documentOf(...groupsOf(9, 'user_id')))).toEqual([]);
  });

  it('counts parameters and the fields of bodies without a component', () => {
    const document = documentOf(...groupsOf(2, 'status'));
    const [first, second] = Object.values(document.paths).map((methods) => methods.get!);
    document.paths['/p'] = {
      get: { ...first!, tags: ['p'], parameters: [{ name: 'status', in: 'query', description: 'The text.' }] },
    };
    const schema = { type: 'object', properties: { status: field('The text.') } };
    const requestBody = { required: true, content: { 'application/json': { schema } } };
    document.paths['/b'] = { post: { ...second!, tags: ['b'], requestBody } };
    expect(findRepeatedTexts(document)).toEqual([{ text: 'The text.', name: 'status', isDefault: true }]);
  });

  it('puts a component that several groups use into the first one', () => {
    const document = documentOf(...groupsOf(3, 'name'));
    document.paths['/again'] = { get: { ...document.paths['/g0']!.get!, tags: ['another'] } };
    expect(findRepeatedTexts(document)).toEqual([]);
  });
});

describe('findFalseNulls', () => {
  const falseNulls = (schema: JsonSchema) => findFalseNulls(documentOf(group('a', { x: schema })));

  it('finds a field that is never null and says when it is', () => {
    expect(falseNulls(field('End; null for none.'))).toEqual(['Answera.x']);
    expect(falseNulls({ $ref: '#/components/schemas/Answera', description: 'Null leaves it unchanged.' })).toEqual(['Answera.x']);
  });

  it('accepts a field that may be null, and a text about the null of another one', () => {
    expect(falseNulls({ type: ['string', 'null'], description: 'End; null for none.' })).toEqual([]);
    expect(falseNulls({ anyOf: [{ type: 'string' }, { type: 'null' }], description: 'End; null for none.' })).toEqual([]);
    expect(falseNulls({ description: 'Any value; null for none.' })).toEqual([]);
    expect(falseNulls(field('What applies while `limit` is null.'))).toEqual([]);
  });
});
