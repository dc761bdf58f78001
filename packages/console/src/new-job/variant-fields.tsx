import { variantsMax } from 'virtual:contract-data';
import { Button } from '../parts/form/button.tsx';
import { type ToolChoice, ToolFields } from './tool-fields.tsx';

interface VariantFieldsProps {
  workspaceId: string;
  repoId: string;
  /** The tool and model of the one job. */
  single: ToolChoice;
  /** Those of each try; empty: the work is one job. */
  variants: readonly ToolChoice[];
  error: string | undefined;
  onChange: (change: Partial<ToolChoice> & { variants: readonly ToolChoice[] }) => void;
}

/** The tool and the model of a job, or those of several tries of the same work. */
export function VariantFields(props: VariantFieldsProps) {
  const { workspaceId, repoId, single, variants, error, onChange } = props;
  const place = { workspaceId, repoId };
  if (variants.length === 0) {
    return (
      <div className="grid justify-items-start gap-2">
        <div className="w-full">
          <ToolFields
            {...place}
            {...single}
            onChange={(choice) => onChange({ ...choice, variants })}
          />
        </div>
        <Button
          look="quiet"
          onClick={() =>
            onChange({ tool: '', model: '', variants: [single, { tool: '', model: '' }] })
          }
        >
          Try it with more than one tool
        </Button>
      </div>
    );
  }
  const without = (at: number) => variants.filter((_, place) => place !== at);
  const remove = (at: number) => {
    const [first = single, ...others] = without(at);
    onChange(others.length === 0 ? { ...first, variants: [] } : { variants: [first, ...others] });
  };
  return (
    <fieldset className="grid gap-3 rounded-lg border p-3">
      <legend className="px-1 text-sm font-medium">Tries of the same work</legend>
      <p className="text-xs text-muted">
        Each try is a job on a branch of its own. You compare the results and keep one.
      </p>
      {variants.map((variant, at) => (
        // Tries have no other identity than their place.
        // biome-ignore lint/suspicious/noArrayIndexKey: the fields hold no state.
        <div key={at} className="grid items-end gap-2 sm:grid-cols-[minmax(0,1fr)_auto]">
          <ToolFields
            {...place}
            {...variant}
            of={` of try ${at + 1}`}
            onChange={(choice) =>
              onChange({ variants: variants.map((one, place) => (place === at ? choice : one)) })
            }
          />
          <Button
            look="quiet"
            className="mb-0.5 justify-self-start"
            aria-label={`Remove try ${at + 1}`}
            onClick={() => remove(at)}
          >
            Remove
          </Button>
        </div>
      ))}
      {error !== undefined && (
        <p role="alert" className="text-xs text-danger">
          {error}
        </p>
      )}
      {variants.length < variantsMax && (
        <Button
          className="justify-self-start"
          onClick={() => onChange({ variants: [...variants, { tool: '', model: '' }] })}
        >
          Add a try
        </Button>
      )}
    </fieldset>
  );
}
