import './project-switcher.css';
import { Box, Text, UnstyledButton } from '@mantine/core';
import { IconPlus, IconSelector } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useProject, useProjects } from '../api/hooks.ts';
import { t } from '../texts/index.ts';
import { MenuButton } from '../ui/menu-button.tsx';

export function ProjectSwitcher() {
  const { data: projects = [] } = useProjects();
  const project = useProject();
  const navigate = useNavigate();
  return (
    <MenuButton
      width="target"
      position="bottom-start"
      items={[
        ...projects.map(({ id, name }) => ({
          key: id,
          label: name,
          current: id === project?.id,
          onClick: () => void navigate({ to: '/p/$projectId', params: { projectId: id } }),
        })),
        { kind: 'divider' as const, key: 'divider' },
        {
          key: 'new',
          label: t.frame.newProject,
          icon: <IconPlus size={16} />,
          onClick: () => void navigate({ to: '/new-project' }),
        },
      ]}
    >
      {(props) => (
        <UnstyledButton className="project-switcher" title={t.frame.switchProject} {...props}>
          <Box className="project-initial" aria-hidden>
            {(project?.name ?? '?').slice(0, 1).toUpperCase()}
          </Box>
          <Box miw={0} flex={1}>
            <Text size="xs" c="dimmed" lh={1.2}>
              {t.frame.project}
            </Text>
            <Text fw={600} size="sm" truncate>
              {project?.name ?? ' '}
            </Text>
          </Box>
          <IconSelector size={16} aria-hidden />
        </UnstyledButton>
      )}
    </MenuButton>
  );
}
