import { type FileReply, fileReply } from '../core/http/http-client.ts';
import { DOWNLOAD_HEADERS, type Download } from '../domain/media/media.ts';

/** A stored file as an answer. @param cacheControl null = no header */
export function downloadReply({ name, mime, content, isInPlace }: Download, cacheControl: string | null): FileReply {
  return fileReply({
    filename: name,
    contentType: mime === 'text/plain' ? 'text/plain; charset=utf-8' : mime,
    body: content,
    acceptsRanges: true,
    inline: isInPlace,
    headers: { ...DOWNLOAD_HEADERS, ...(cacheControl === null ? {} : { 'cache-control': cacheControl }) },
  });
}
