/** The API document in the words of the clients of the mount (spec 09 section 3). Its prose stays. */
import { generalPositions } from './identifier-positions.ts';
import { operationWordsOf } from './operation-words.ts';
import { makeRenamer } from './rename-values.ts';
import type { Json, JsonObject, Vocabulary } from './vocabulary.ts';

type Change = (value: unknown, position?: string) => unknown;

/** @param prefix of the mount, at which the operations are */
export function renameDocument(document: JsonObject, vocabulary: Vocabulary, prefix: string): JsonObject {
  const { forms, outward, documentNames } = vocabulary;
  const { schemas } = document.components as { schemas: JsonObject };
  const wordsOf = operationWordsOf(vocabulary);
  const general = makeRenamer(outward, generalPositions, { isInward: false });
  const permissions = outward.values.get('permissions');
  const nameOf = (names: ReadonlyMap<string, string> | undefined, value: Json): Json =>
    typeof value === 'string' ? (names?.get(value) ?? value) : value;
  const namesOf = (names: ReadonlyMap<string, string> | undefined, list: Json): Json =>
    Array.isArray(list) ? list.map((each) => nameOf(names, each)) : list;

  /** @param field name of the property that the node is the schema of */
  function visit(node: Json, change: Change, field?: string): Json {
    if (Array.isArray(node)) return node.map((each) => visit(each, change, field));
    if (node === null || typeof node !== 'object') return node;
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, visitKey(key, value, change, field, node)]));
  }

  function visitKey(key: string, value: Json, change: Change, field: string | undefined, node: JsonObject): Json {
    switch (key) {
      case 'properties':
        return Object.fromEntries(
          Object.entries(value as JsonObject).map(([name, schema]) => [nameOf(outward.keys, name), visit(schema, change, name)]),
        );
      case 'required':
      case 'enum':
        return namesOf(outward.keys, value);
      case 'const':
      case 'default':
        return nameOf(outward.keys, value);
      case 'x-permissions':
        return namesOf(permissions, value);
      case 'x-token-scope':
        return nameOf(permissions, value);
      case 'tags':
        return Array.isArray(value) && value.every((each) => typeof each === 'string') ? namesOf(documentNames, value) : value;
      case 'operationId':
        return nameOf(documentNames, value);
      case '$ref':
        return typeof value === 'string' ? value.replace(/[^/]+$/, (name) => documentNames.get(name) ?? name) : value;
      case 'pattern':
        return nameOf(outward.patterns, value);
      case 'name':
        return typeof value === 'string' && typeof node.in === 'string' ? forms.rename(value) : value;
      case 'example':
        return change(value, field) as Json;
      case 'examples':
        // Those of a schema are a list of values, those of a body are named.
        if (Array.isArray(value)) return value.map((each) => change(each, field) as Json);
        return mapValues(value as JsonObject, (each) => ({
          ...(each as JsonObject),
          value: change((each as JsonObject).value, field) as Json,
        }));
      case 'description':
      case 'summary':
      case 'title':
        return value;
      default:
        return visit(value, change, field);
    }
  }

  function visitOperation(path: string, operation: JsonObject): JsonObject {
    const words = wordsOf({ path, operation, schemas });
    const responses = mapValues(operation.responses as JsonObject, (response, status) =>
      visit(response, status.startsWith('2') ? (value) => words.answer(value) : (value) => words.refusal(value)),
    );
    return { ...(visit({ ...operation, responses: {} }, general.value) as JsonObject), responses };
  }

  const paths = Object.fromEntries(
    Object.entries(document.paths as JsonObject).map(([path, methods]) => [
      forms.renameRegularly(path),
      mapValues(methods as JsonObject, (operation) => visitOperation(path, operation as JsonObject)),
    ]),
  );
  const components = document.components as JsonObject;
  const renamedSchemas = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [documentNames.get(name) ?? name, visit(schema, general.value)]),
  );
  const tags = (document.tags as JsonObject[]).map((tag) => ({ ...tag, name: nameOf(documentNames, tag.name!) }));
  const servers = (document.servers as JsonObject[]).map((server) => ({ ...server, url: prefix === '' ? '/' : prefix }));
  const rest = visit({ ...document, paths: {}, components: {}, tags: [], servers: [] }, general.value) as JsonObject;
  const otherComponents = visit({ ...components, schemas: {} }, general.value) as JsonObject;
  return { ...rest, servers, tags, paths, components: { ...otherComponents, schemas: renamedSchemas } };
}

const mapValues = (object: JsonObject, change: (value: Json, key: string) => Json): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
