import { Component, lazy, type ReactNode, Suspense } from 'react';
import { plainText } from '../../format/text.ts';

/** Loaded with the first text that is shown as Markdown. */
const MarkdownBody = lazy(async () => {
  const { MarkdownBody: body } = await import('./markdown-body.tsx');
  return { default: body };
});

/*
 * An agent may write text that takes minutes to parse, since the time of nested marks rises with
 * the square of their number. Within these limits any text takes less than a second.
 */
const MARKDOWN_CHARS_MAX = 20_000;
/** Marks of emphasis and links between two blank lines. */
const MARKS_MAX = 400;
/** Cells of a table. Each of its rows is filled up to the number of columns. */
const CELLS_MAX = 2_000;
/** The line below the heads of a table. */
const delimiterRow = /^[ \t>|:*+\d.)-]*-[ \t|:-]*$/m;
/** Quotations within quotations, and marks without text between them. */
const deeplyNested = /(?:> ?){30}|[*_]{40}/;

interface MarkdownProps {
  text: string;
  /** Whether addresses are links. */
  hasLinks?: boolean;
}

/**
 * Untrusted Markdown: no HTML, no images, and links with their address in sight. Until its code has
 * been loaded, and where it cannot be shown as Markdown, the text is shown as it is.
 */
export function Markdown({ text, hasLinks = true }: MarkdownProps) {
  const plain = plainText(text);
  const asIs = <p className="wrap-anywhere whitespace-pre-wrap">{plain}</p>;
  if (!isQuicklyParsed(plain)) return asIs;
  return (
    <FallBack key={plain} to={asIs}>
      <Suspense fallback={asIs}>
        <MarkdownBody text={plain} hasLinks={hasLinks} />
      </Suspense>
    </FallBack>
  );
}

function isQuicklyParsed(text: string): boolean {
  if (text.length > MARKDOWN_CHARS_MAX || deeplyNested.test(text)) return false;
  return text
    .split(/\n[ \t]*\n/)
    .every(
      (block) => (block.match(/[*_[]/g)?.length ?? 0) <= MARKS_MAX && cellsOf(block) <= CELLS_MAX,
    );
}

/** How many cells a block has at most, if it is a table. */
function cellsOf(block: string): number {
  if (!block.includes('|') || !delimiterRow.test(block)) return 0;
  const lines = block.split('\n');
  const columns = Math.max(...lines.map((line) => line.split('|').length));
  return columns * lines.length;
}

/** Shows something else in place of children that throw, such as text nested too deeply. */
class FallBack extends Component<{ to: ReactNode; children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? this.props.to : this.props.children;
  }
}
