import { ENV_SPEC, type EnvVariable } from './env-spec.ts';

/** Comment lines of at most about 100 characters. */
function wrap(text: string): string[] {
  const lines = ['#'];
  for (const word of text.split(' ')) {
    const last = lines.length - 1;
    if (`${lines[last]} ${word}`.length > 100) lines.push(`# ${word}`);
    else lines[last] += ` ${word}`;
  }
  return lines;
}

function exampleOf(name: string, variable: EnvVariable): string {
  const lines = wrap(variable.effect);
  const facts: string[] = [variable.type];
  if (variable.choices) facts.push(variable.choices.join(' | '));
  if (variable.min !== undefined && variable.max !== undefined) facts.push(`${variable.min}..${variable.max}`);
  if (variable.aliases) facts.push(`also read as ${variable.aliases.join(', ')}`);
  if (variable.isSecret) facts.push(`or a path in ${name}_FILE`);
  lines.push(`# (${facts.join('; ')})`, `# ${name}=${variable.default ?? ''}`);
  return lines.join('\n');
}

/** Text of `.env.example`: every variable with its effect and default, commented out. */
export function renderEnvExample(): string {
  const head = [
    '# Copy to .env in the project folder. Variables of the process take precedence over this file.',
    '# Every variable is optional in development; the commented lines show the defaults.',
    '# Every secret NAME can be given as NAME_FILE=/path/of/a/file instead.',
    '# Keys of the settings registry (panel, messenger, payment providers, prices ...) can be set here too;',
    '# a key that is set here cannot be changed through the settings interface.',
  ].join('\n');
  const byGroup = new Map<string, string[]>();
  for (const [name, variable] of Object.entries(ENV_SPEC)) {
    const entries = byGroup.get(variable.group) ?? [];
    entries.push(exampleOf(name, variable));
    byGroup.set(variable.group, entries);
  }
  const groups = [...byGroup].map(([group, entries]) => `## ${group}\n\n${entries.join('\n\n')}`);
  return `${[head, ...groups].join('\n\n')}\n`;
}
