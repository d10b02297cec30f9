import type { App } from '../core/app.ts';
import { PERMISSION_CATALOGUE } from '../domain/access/permissions.ts';
import { TOKEN_SCOPES } from '../domain/access/token-scopes.ts';
import { definitionOf, settingKeys } from '../domain/settings/catalogue/catalogue.ts';
import { categories } from '../domain/settings/catalogue/categories.ts';
import { type InterfaceWords, makeInterfaceWords } from '../rest/interface-words/interface-words.ts';
import type { JsonObject, NamedElsewhere } from '../rest/interface-words/vocabulary.ts';
import { writtenDocument } from '../rest/served-document.ts';

/** The names that the interface has in its values. */
export const namedElsewhere: NamedElsewhere = {
  settings: [...settingKeys, ...Object.keys(categories)],
  permissions: [
    ...Object.entries(PERMISSION_CATALOGUE).flatMap(([section, actions]) => actions.map((action) => `${section}:${action}`)),
    ...TOKEN_SCOPES,
  ],
  choices: new Map(settingKeys.map((key) => [key, (definitionOf(key).choices ?? []).map(String)])),
  templates: new Map(settingKeys.map((key) => [key, definitionOf(key).placeholders ?? []])),
};

/** Server and webhooks share what is made from the whole document. */
const made = new WeakMap<App['env'], InterfaceWords>();

/** @throws EnvError when the words cannot be used; the message names what is in the way */
export function interfaceWordsOf(env: App['env']): InterfaceWords | undefined {
  const { interfaceWords, trustedProxies } = env;
  if (interfaceWords === null) return undefined;
  const known = made.get(env);
  if (known !== undefined) return known;
  const document = writtenDocument() as JsonObject;
  const words = makeInterfaceWords({ env: interfaceWords, trustedProxies, document, elsewhere: namedElsewhere });
  made.set(env, words);
  return words;
}
