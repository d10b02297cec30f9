/** Finds the path in our words for one in a client's; both are served, mixed ones too (spec 09 section 2). */
import type { WordForms } from '../../core/word-forms.ts';

interface PathTemplate {
  /** A literal in our words, or null for a parameter. */
  segments: readonly (string | null)[];
  parameters: number;
}

/**
 * @param paths those of the document
 * @returns a function from a path without query to the same path with the literal segments of the document in our words
 */
export function pathReader(paths: readonly string[], forms: WordForms): (path: string) => string {
  const ours = new Map<string, string>();
  const byLength = new Map<number, PathTemplate[]>();
  for (const path of paths) {
    const segments = path.split('/').map((segment) => (segment.includes('{') ? null : segment));
    const renamed = segments.filter((segment) => segment !== null && forms.rename(segment) !== segment) as string[];
    if (renamed.length === 0) continue;
    for (const segment of renamed) ours.set(forms.rename(segment), segment);
    const parameters = segments.filter((segment) => segment === null).length;
    byLength.set(segments.length, [...(byLength.get(segments.length) ?? []), { segments, parameters }]);
  }
  // As the router: a literal wins over a parameter.
  for (const templates of byLength.values()) templates.sort((a, b) => a.parameters - b.parameters);

  return (path) => {
    const isSlashed = path.length > 1 && path.endsWith('/');
    const given = (isSlashed ? path.slice(0, -1) : path).split('/');
    const templates = byLength.get(given.length);
    if (templates === undefined) return path;
    const read = given.map((segment) => (segment.includes('%') ? decoded(segment) : segment));
    const isLiteral = (literal: string, segment: string): boolean => literal === segment || literal === ours.get(segment);
    const template = templates.find(({ segments }) =>
      segments.every((literal, index) => (literal === null ? read[index] !== '' : isLiteral(literal, read[index]!))),
    );
    if (template === undefined) return path;
    const segments = given.map((segment, index) => template.segments[index] ?? segment);
    return `${segments.join('/')}${isSlashed ? '/' : ''}`;
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // The router refuses it.
  }
}
