import { useQuery } from '@tanstack/react-query';
import { servingAgentsQuery } from '../api/fleet-queries.ts';
import { modelsOffered, toolsOffered } from '../format/tool-words.ts';
import { FieldFrame, inputClasses } from '../parts/form/field.tsx';

export interface ToolChoice {
  tool: string;
  model: string;
}

interface ToolFieldsProps extends ToolChoice {
  workspaceId: string;
  repoId: string;
  /** The end of the labels, such as ` of try 2`. */
  of?: string;
  onChange: (choice: ToolChoice) => void;
}

/** The tool and the model of a job, among those that online agents of its repository offer. */
export function ToolFields(props: ToolFieldsProps) {
  const { workspaceId, repoId, tool, model, of = '', onChange } = props;
  const { data } = useQuery({
    ...servingAgentsQuery(workspaceId, repoId),
    enabled: repoId !== '',
  });
  const offered = toolsOffered(data?.agents ?? [], repoId);
  const models = modelsOffered(offered, tool);
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      <Choice
        label={`Tool${of}`}
        name="tool"
        none="Any"
        value={tool}
        values={[...new Set(offered.map(({ name }) => name))]}
        onChange={(value) => onChange({ tool: value, model: '' })}
      />
      <Choice
        label={`Model${of}`}
        name="model"
        none="The default of the tool"
        value={model}
        values={models}
        onChange={(value) => onChange({ tool, model: value })}
      />
    </div>
  );
}

interface ChoiceProps {
  label: string;
  name: string;
  none: string;
  value: string;
  values: readonly string[];
  onChange: (value: string) => void;
}

function Choice({ label, name, none, value, values, onChange }: ChoiceProps) {
  const isOffered = value === '' || values.includes(value);
  return (
    <FieldFrame
      label={label}
      error={undefined}
      hint={isOffered ? undefined : 'No online agent offers it. The job waits for one that does.'}
    >
      {(ids) => (
        <select
          {...ids}
          name={name}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className={inputClasses}
        >
          <option value="">{none}</option>
          {[...values, ...(isOffered ? [] : [value])].map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  );
}
