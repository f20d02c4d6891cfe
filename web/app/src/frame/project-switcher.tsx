import { Box, Menu, Text, UnstyledButton } from '@mantine/core';
import { IconCheck, IconPlus, IconSelector } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useProject, useProjects } from '../api/hooks.ts';
import { t } from '../texts/index.ts';

export function ProjectSwitcher() {
  const { data: projects = [] } = useProjects();
  const project = useProject();
  const navigate = useNavigate();
  return (
    <Menu width="target" position="bottom-start">
      <Menu.Target>
        <UnstyledButton className="project-switcher" aria-label={`${t.frame.switchProject}: ${project?.name ?? ''}`}>
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
      </Menu.Target>
      <Menu.Dropdown mah="60vh" style={{ overflowY: 'auto' }}>
        {projects.map(({ id, name }) => (
          <Menu.Item
            key={id}
            onClick={() => void navigate({ to: '/p/$projectId', params: { projectId: id } })}
            rightSection={id === project?.id ? <IconCheck size={16} aria-hidden /> : undefined}
            aria-current={id === project?.id || undefined}
          >
            <span className="breakable">{name}</span>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconPlus size={16} />} onClick={() => void navigate({ to: '/new-project' })}>
          {t.frame.newProject}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
