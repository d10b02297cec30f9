/** `sendDocument` as clients send it: a form with the chat, the caption and one text file. */

const MAX_STORED = 64 * 1024;

/** @returns null for a body that is no form */
export function documentForm(
  body: string,
): { chat_id: number; caption: string; document: { name: string; text: string } } | null {
  const boundary = /^--([^\r\n]+)\r\n/.exec(body)?.[0]?.trimEnd();
  if (!boundary) return null;
  const parts = body.split(boundary).flatMap((part) => {
    const [head, ...rest] = part.split('\r\n\r\n');
    const name = /name="([^"]*)"/.exec(head ?? '')?.[1];
    const fileName = /filename="([^"]*)"/.exec(head ?? '')?.[1] ?? null;
    return name === undefined ? [] : [{ name, fileName, content: rest.join('\r\n\r\n').replace(/\r\n$/, '') }];
  });
  const field = (name: string) => parts.find((part) => part.name === name);
  const file = field('document');
  if (!file) return null;
  return {
    chat_id: Number(field('chat_id')?.content),
    caption: field('caption')?.content ?? '',
    document: { name: file.fileName ?? '', text: file.content.slice(0, MAX_STORED) },
  };
}
