import { plainText, splitLinks } from '../../format/text.ts';

/** Untrusted text, as text nodes and http(s) links that send no referrer. */
export function LinkedText({ text }: { text: string }) {
  return splitLinks(plainText(text)).map((piece, index) =>
    piece.href === undefined ? (
      piece.text
    ) : (
      <a
        // Pieces keep their positions within one text.
        // biome-ignore lint/suspicious/noArrayIndexKey: the position is the identity.
        key={index}
        href={piece.href}
        target="_blank"
        rel="noopener noreferrer nofollow"
        className="text-accent underline underline-offset-2"
      >
        {piece.text}
      </a>
    ),
  );
}
